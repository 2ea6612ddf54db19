/**
 * Returns how deeply the arrays and objects of a JSON text are nested, and the source text of the
 * number under the last member `id` of its object, or `undefined` if there is no number. Of text
 * that is not JSON, it returns any values.
 */
export function scanJson(json: string): { depth: number; idSource: string | undefined } {
  let depth = 0;
  let open = 0;
  let idSource: string | undefined;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === quote) {
      const first = json.charCodeAt(index + 1);
      if (open === 1 && (first === letterI || first === backslash)) {
        idMember.lastIndex = index;
        const member = idMember.exec(json);
        if (member !== null) idSource = member[1];
      }
      for (index += 1; index < json.length && json.charCodeAt(index) !== quote; index += 1) {
        if (json.charCodeAt(index) === backslash) index += 1;
      }
    } else if (code === openBracket || code === openBrace) {
      open += 1;
      if (open > depth) depth = open;
    } else if (code === closeBracket || code === closeBrace) {
      open -= 1;
    }
  }
  return { depth, idSource };
}

const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const letterI = 0x69;

/**
 * The name `id` of a member, whose letters may be escaped, and the source text of its value if that
 * is a number.
 */
const idMember = /"(?:i|\\u0069)(?:d|\\u0064)"\s*:\s*(-?\d[\d.eE+-]*)?/y;
