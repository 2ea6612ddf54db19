/** scheme "://" authority, of a target in absolute-form (RFC 9112 §3.2.2). */
const origin = /^https?:\/\/[^/?#]*/i;

const percentDecode = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
};

/** The percent-decoded path of a request target, without the query; `undefined` where it has none. */
export const pathOf = (target: string): string | undefined => {
  const [path = ''] = target.replace(origin, '').split('?', 1);
  return path.startsWith('/') ? percentDecode(path) : undefined;
};

/**
 * A base path in the form that paths are compared in: percent-decoded, without a slash at the end.
 * `undefined` for one that does not begin with a slash or cannot be decoded.
 */
export const normalizeBasePath = (basePath: string): string | undefined => {
  if (basePath === '') return '';
  if (!basePath.startsWith('/') || /[?#]/.test(basePath)) return undefined;
  return percentDecode(basePath)?.replace(/\/$/, '');
};
