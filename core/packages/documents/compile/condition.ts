import type { CompileContext } from '../source/compile-context.ts'
import { compileExpression } from './expression.ts'
import type { Scope } from './scope.ts'

/**
 * Compiles `if`: whether it holds. What the data do not have, null, false, the empty text and the empty list do not; no condition always
 * does.
 */
export function compileCondition (text: string | undefined, site: CompileContext): (scope: Scope) => boolean {
  if (text === undefined) return () => true
  const expression = compileExpression(text, site, 'test')
  return (scope) => {
    const value = expression.find(scope)
    return value !== undefined && value !== null && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0)
  }
}
