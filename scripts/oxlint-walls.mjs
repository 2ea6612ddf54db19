/** Lint rules that oxlint does not have. */

const isPackage = (source) => typeof source?.value === 'string' && !/^\.\.?\//.test(source.value);

/** A name has one home: whoever needs another package's export imports it from that package. */
const noReexport = {
  create(context) {
    const foreign = new Map();
    const report = (node, source) =>
      context.report({ node, message: `'${source}' is another package: nobody re-exports it.` });
    return {
      ImportDeclaration({ source, specifiers }) {
        if (!isPackage(source)) return;
        for (const { local } of specifiers) foreign.set(local.name, source.value);
      },
      ExportAllDeclaration(node) {
        if (isPackage(node.source)) report(node, node.source.value);
      },
      'ExportNamedDeclaration:exit'(node) {
        if (isPackage(node.source)) report(node, node.source.value);
        if (node.source) return;
        for (const specifier of node.specifiers) {
          const source = foreign.get(specifier.local.name);
          if (source !== undefined) report(specifier, source);
        }
      },
    };
  },
};

export default { meta: { name: 'walls' }, rules: { 'no-reexport': noReexport } };
