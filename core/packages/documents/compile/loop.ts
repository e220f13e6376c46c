import { pointer } from '@dispatch/common'
import { renderError } from '../model/errors.ts'
import { type CompileContext, contextBelow, hasTexts, reportFault } from './compile-context.ts'
import { compileExpression } from './expression.ts'
import { type Scope, spend, withVariable } from './scope.ts'

/** The iterations of a loop: one scope for each item of its list. */
export type Loop = { readonly turns: (scope: Scope) => Iterable<Scope>, readonly inside: CompileContext }

/** Compiles `each … as …`. `inside` is the context of the loop's own blocks and cells. A missing list is empty. */
export function compileLoop ({ each, as }: { each: string, as: string }, site: CompileContext): Loop {
  const list = compileExpression(each, contextBelow(site, 'each'), 'list')
  if (as === 'page' || as === 'pages') reportFault(contextBelow(site, 'as'), `"${as}" is reserved for page numbers: choose another name.`)
  if (as === 't' && hasTexts(site)) {
    reportFault(contextBelow(site, 'as'), '"t" is reserved for the texts of the template: choose another name.')
  }
  const inside: CompileContext = { ...site, names: { ...site.names, [as]: list.source } }
  return {
    inside,
    *turns (scope) {
      const items = list.find(scope) ?? []
      const at = list.pointer(scope)
      if (!Array.isArray(items)) throw renderError(at, 'not_a_list', `The template loops over "${each}": expected a list.`)
      for (const [index, item] of items.entries()) {
        spend(scope, 'blocks', 1)
        yield withVariable(scope, as, item, list.isPath ? pointer(at, index) : at)
      }
    }
  }
}
