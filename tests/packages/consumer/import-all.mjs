// Imports every export of every package and prints how many there are.
let count = 0;
for (const name of ['core', 'sqlite', 'postgres', 'server', 'client']) {
  const json = { with: { type: 'json' } };
  const { default: manifest } = await import(`@plantstore/${name}/package.json`, json);
  for (const path of Object.keys(manifest.exports)) {
    const specifier = `@plantstore/${name}${path.slice(1)}`;
    await import(specifier, path.endsWith('.json') ? json : {});
    count += 1;
  }
}
console.log(`${count} imported`);
