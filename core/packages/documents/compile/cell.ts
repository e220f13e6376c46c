import { dayOf, isDecimal, withoutNoise } from '@dispatch/common'
import type { CellSource, ValueType } from '../model/blocks.ts'
import type { Cell } from '../model/document.ts'
import { renderError } from '../model/errors.ts'
import { type CompileContext, contextBelow, reportFault } from './compile-context.ts'
import { type CompiledExpression, compileExpression } from './expression.ts'
import { liquidText } from './liquid.ts'
import { compileProse } from './prose.ts'
import { type Scope, spend } from './scope.ts'

/** Compiles the content of a cell. A missing value leaves the cell empty. */
export function compileCell (source: CellSource, site: CompileContext): (scope: Scope) => Cell {
  const { text, value, type = 'text', digits } = source
  if ((text === undefined) === (value === undefined)) reportFault(site, 'Expected either "text" (prose) or "value" (an expression).')
  if (value === undefined) {
    const prose = compileProse(text ?? '', contextBelow(site, 'text'))
    return (scope) => ({ type: 'text', runs: prose(scope) })
  }
  const expression = compileExpression(value, contextBelow(site, 'value'), 'whole')
  const read = readers[type]
  return (scope) => {
    const found = expression.find(scope)
    return found === undefined || found === null || found === ''
      ? { type: 'empty' }
      : read(found, expression, scope, digits === undefined ? {} : { digits })
  }
}

type Reader = (value: unknown, expression: CompiledExpression, scope: Scope, digits: { digits?: number }) => Cell

const readers: Record<ValueType, Reader> = {
  text (value, expression, scope) {
    const text = liquidText(value, () => expression.pointer(scope))
    spend(scope, 'characters', text.length)
    return { type: 'text', runs: [{ text }] }
  },
  money: (value, expression, scope, digits) => ({
    type: 'money',
    value: decimal(value, expression, scope),
    currency: scope.currency,
    ...digits
  }),
  number: (value, expression, scope, digits) => ({ type: 'number', value: decimal(value, expression, scope), ...digits }),
  percent: (value, expression, scope, digits) => ({ type: 'percent', value: decimal(value, expression, scope), ...digits }),
  date (value, expression, scope) {
    const day = dayOf(value)
    if (day !== undefined) return { type: 'date', value: day }
    throw renderError(expression.pointer(scope), 'not_a_date', 'Expected a date (YYYY-MM-DD) or a time (RFC 3339).')
  }
}

function decimal (value: unknown, expression: CompiledExpression, scope: Scope): number | string {
  if (isDecimal(value)) return withoutNoise(value)
  throw renderError(expression.pointer(scope), 'not_a_number', 'Expected a number or a decimal text, such as "12.50".')
}
