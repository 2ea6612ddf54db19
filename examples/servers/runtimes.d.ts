// What the examples use of runtimes whose own types would contradict those of Node.

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
