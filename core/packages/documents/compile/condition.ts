import type { CompileContext } from './compile-context.ts'
import { compileExpression } from './expression.ts'
import type { Scope } from './scope.ts'

/**
 * Compiles `if` into a check whether it holds. A missing value, null, false, an empty text and an empty list do not hold. A missing
 * condition always holds.
 */
export function compileCondition (text: string | undefined, site: CompileContext): (scope: Scope) => boolean {
  if (text === undefined) return () => true
  const expression = compileExpression(text, site, 'test')
  return (scope) => {
    const value = expression.find(scope)
    return value !== undefined && value !== null && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0)
  }
}
