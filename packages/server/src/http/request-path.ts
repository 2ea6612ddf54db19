/** scheme "://" authority, of a target in absolute-form (RFC 9112 §3.2.2). */
const origin = /^https?:\/\/[^/?#]+/i;

const percentDecode = (path: string): string | undefined => {
  if (!path.includes('%')) return path;
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
 * The path of a request target as it was sent, for a log: a query, a fragment and a user's name and
 * password may be secret. `undefined` where it has none.
 */
export const shownPath = (target: string): string | undefined => {
  const [path = ''] = target.replace(origin, '').split(/[?#]/, 1);
  return path.startsWith('/') || path === '*' ? path : undefined;
};

/** What a URL would change or cut off in a path: see {@link normalizeBasePath}. */
const ambiguous = /[?#\\\p{Cc}]|\/\/|\/\.{1,2}(?:\/|$)/u;

/** What a base path must be, as a sentence goes on. */
export const basePathForm =
  'a path that begins with a slash, without empty or dot segments, backslashes or a query';

/**
 * A base path in the form that paths are compared in: percent-decoded, without a slash at the end.
 * `undefined` for one that does not begin with a slash, cannot be decoded, or has an empty or a dot
 * segment, a backslash, a control, a query or a fragment.
 */
export const normalizeBasePath = (basePath: string): string | undefined => {
  if (basePath === '') return '';
  if (!basePath.startsWith('/') || ambiguous.test(basePath)) return undefined;
  return percentDecode(basePath)?.replace(/\/$/, '');
};

/** A decoded path as it stands in a URL. */
export const encodePath = (path: string): string =>
  path.split('/').map(encodeURIComponent).join('/');
