// Imports every export of the packages that its arguments name, and prints the specifiers.
const json = { with: { type: 'json' } };
for (const name of process.argv.slice(2)) {
  const { default: manifest } = await import(`${name}/package.json`, json);
  for (const path of Object.keys(manifest.exports)) {
    const specifier = name + path.slice(1);
    await import(specifier, path.endsWith('.json') ? json : {});
    console.log(specifier);
  }
}
