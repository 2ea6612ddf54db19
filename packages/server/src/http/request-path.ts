/** scheme "://" authority, of a target in absolute-form (RFC 9112 §3.2.2). */
const origin = /^https?:\/\/(?<authority>[^/?#]+)/i;

/** Returns the authority of a request target in absolute-form, as it was sent; `undefined` in another form. */
export const authorityOf = (target: string): string | undefined =>
  origin.exec(target)?.groups?.['authority'];

const percentDecode = (path: string): string | undefined => {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
};

/** Returns the percent-decoded path of a request target, without the query; `undefined` if it has none. */
export const pathOf = (target: string): string | undefined => {
  const [path = ''] = target.replace(origin, '').split('?', 1);
  return path.startsWith('/') ? percentDecode(path) : undefined;
};

/**
 * Returns the path of a request target for the log, not decoded. A query, a fragment and user information
 * may be secret and are left out. Returns `undefined` if the target has no path.
 */
export const shownPath = (target: string): string | undefined => {
  const [path = ''] = target.replace(origin, '').split(/[?#]/, 1);
  return path.startsWith('/') || path === '*' ? path : undefined;
};

/** What a URL parser would change or cut off in a path: see {@link normalizeBasePath}. */
const ambiguous = /[?#\\\p{Cc}]|\/\/|\/\.{1,2}(?:\/|$)/u;

/** The valid form of a base path, for messages. */
export const basePathForm =
  'a path that begins with a slash, without empty or dot segments, backslashes or a query';

/**
 * Returns a base path in the form in which paths are compared: percent-decoded, without a trailing slash.
 * Returns `undefined` for one that does not begin with a slash, cannot be decoded, or has an empty
 * segment, a dot segment, a backslash, a control character, a query or a fragment.
 */
export const normalizeBasePath = (basePath: string): string | undefined => {
  if (basePath === '') return '';
  if (!basePath.startsWith('/') || ambiguous.test(basePath)) return undefined;
  return percentDecode(basePath)?.replace(/\/$/, '');
};

/** Percent-encodes a decoded path for a URL. */
export const encodePath = (path: string): string =>
  path.split('/').map(encodeURIComponent).join('/');
