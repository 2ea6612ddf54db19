/** A lint rule that oxlint does not have. */

const isPackage = (source) => typeof source?.value === 'string' && !/^\.\.?\//.test(source.value);

/** Disallows re-exports from another package: each export is imported from the package that defines it. */
const noReexport = {
  create(context) {
    const foreign = new Map();
    const report = (node, source) =>
      context.report({
        node,
        message: `Do not re-export from '${source}'. Import from that package where the export is used.`,
      });
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

export default { meta: { name: 'import-boundaries' }, rules: { 'no-reexport': noReexport } };
