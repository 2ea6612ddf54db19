// Types of workerd's APIs in the example. Its own types conflict with those of Node.

type SqlStorage = {
  exec(
    statement: string,
    ...values: readonly string[]
  ): { one(): Readonly<Record<string, unknown>> };
};

type DurableObjectState = { readonly storage: { readonly sql: SqlStorage } };

type DurableObjectNamespace = {
  idFromName(name: string): object;
  get(id: object): { fetch(request: Request): Promise<Response> };
};
