// Types of the runtimes' APIs in the examples. The runtimes' own types conflict with those of Node.

declare const Bun: {
  serve(options: {
    readonly hostname: string;
    readonly port: number;
    readonly fetch: (request: Request) => Promise<Response>;
  }): { readonly port: number };
};

declare const Deno: {
  readonly env: { get(name: string): string | undefined };
  serve(
    options: {
      readonly hostname: string;
      readonly port: number;
      readonly onListen: (address: { readonly port: number }) => void;
    },
    handler: (request: Request) => Promise<Response>,
  ): unknown;
};

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
