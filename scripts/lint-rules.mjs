/** Rules of this project alone, for the linter (oxlint.json). */

/** @param {string} message @param {readonly string[]} selectors Of nodes, as in ESLint. */
const forbid = (message, ...selectors) => ({
  create: (context) => Object.fromEntries(selectors.map((selector) => [selector, (node) => context.report({ node, message })]))
})

export default {
  meta: { name: 'project' },
  rules: {
    'normal-form': forbid(
      'Use `normalForm` of @dispatch/common: the time of String.normalize grows with the square of a row of marks.',
      'CallExpression[callee.property.name="normalize"][arguments.0.value=/^NF/]'
    ),
    'named-columns': forbid(
      'Name the columns (core/packages/tables/columns.ts): a prepared statement of `*` fails once a migration adds one.',
      'CallExpression[callee.property.name=/^(selectAll|returningAll)$/]',
      'TemplateElement[value.raw=/\\b(select|returning) (\\w+\\.)?\\*/]'
    ),
    // tap's own compare lists only as far as the expected one goes. Those of a text, a map or a set have one argument.
    'whole-comparison': forbid(
      'Use `matches`, `has`, `contains` or `lacks` of test/support/matching.ts.',
      'CallExpression[arguments.length>1][callee.property.name=/^(not)?([mM]atch|[hH]as)(Only)?(Strict)?$/]'
    )
  }
}
