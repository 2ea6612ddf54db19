// The one global beyond ECMAScript that the wire uses; every runtime has it (WHATWG Encoding).
declare class TextDecoder {
  constructor(label: 'utf-8', options: { readonly fatal: boolean });
  decode(bytes: Uint8Array): string;
}
