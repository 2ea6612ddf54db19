// What all plots share: their frame, their colours in light and in dark, and what they are made of.

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => escapes[sign] ?? '');

type Attributes = Readonly<Record<string, string | number>>;

/** An element; its numbers are rounded to a tenth of a pixel. */
export const element = (name: string, attributes: Attributes, content = ''): string => {
  const all = Object.entries(attributes).map(([key, value]) => {
    const told = typeof value === 'number' ? String(Math.round(value * 10) / 10) : escaped(value);
    return ` ${key}="${told}"`;
  });
  return content === ''
    ? `<${name}${all.join('')}/>`
    : `<${name}${all.join('')}>${content}</${name}>`;
};

/** Words at a place; the classes say how they look. */
export const words = (x: number, y: number, text: string, looks = ''): string =>
  element('text', { x, y, ...(looks !== '' && { class: looks }) }, escaped(text));

/** A straight line. */
export const line = (x1: number, y1: number, x2: number, y2: number, looks: string): string =>
  element('line', { x1, y1, x2, y2, class: looks });

// Each colour is told from the page, and from the others, on white as on black.
const style = `
text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; fill: #1f2328; }
.title { font-size: 16px; font-weight: 600; }
.head { font-weight: 600; }
.faint { fill: #59636e; font-size: 12px; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
.grid { stroke: #d1d9e0; stroke-width: 1; }
.axis { stroke: #59636e; stroke-width: 1; }
.base { stroke: #59636e; stroke-width: 1; stroke-dasharray: 4 3; }
.whisker { stroke: #1f2328; stroke-width: 1.5; }
.limit { fill: #8c959f; stroke: #8c959f; }
.ours { fill: #1a9850; stroke: #1a9850; }
.peer { fill: #3b7dd8; stroke: #3b7dd8; }
.range { stroke-width: 3; stroke-opacity: 0.45; }
.tick { stroke-width: 2; }
.path { fill: none; stroke-width: 2; }
.hollow { fill: #ffffff; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.faint { fill: #9198a1; }
.grid { stroke: #3d444d; }
.axis, .base { stroke: #9198a1; }
.whisker { stroke: #e6edf3; }
.hollow { fill: #0d1117; }
}
`;

/** The whole picture, on whatever colour the page has. */
export const picture = (
  {
    width,
    height,
    title,
  }: { readonly width: number; readonly height: number; readonly title: string },
  content: readonly string[],
): string => {
  const frame = {
    xmlns: 'http://www.w3.org/2000/svg',
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
  };
  const parts = [
    element('title', {}, escaped(title)),
    element('style', {}, style),
    words(16, 26, title, 'title'),
    ...content,
  ];
  return `${element('svg', frame, `\n${parts.join('\n')}\n`)}\n`;
};

/** From values to pixels. */
export type Scale = (value: number) => number;

/** A scale that begins at nothing. */
export const linear =
  (most: number, from: number, to: number): Scale =>
  (value) =>
    from + (value / most) * (to - from);

/** A scale on which equal ratios are equal lengths. */
export const logarithmic = (least: number, most: number, from: number, to: number): Scale => {
  const decades = Math.log10(most / least);
  return (value) => from + (Math.log10(value / least) / decades) * (to - from);
};

/** A round step of which at most so many make the whole. */
export const roundStep = (most: number, steps: number): number => {
  const decade = 10 ** Math.floor(Math.log10(most / steps));
  return (
    [1, 2, 5, 10].map((factor) => factor * decade).find((step) => most / step <= steps) ?? most
  );
};

/** Every 1, 2 and 5 of a decade between two numbers. */
export const logTicks = (least: number, most: number): number[] => {
  const first = Math.floor(Math.log10(least));
  const decades = Array.from(
    { length: Math.ceil(Math.log10(most)) - first + 1 },
    (_, at) => 10 ** (first + at),
  );
  return decades
    .flatMap((decade) => [1, 2, 5].map((factor) => Number((factor * decade).toPrecision(1))))
    .filter((tick) => tick >= least && tick <= most);
};
