import fc from 'fast-check'
import t from 'tap'
import { liquidContext, readingOf } from '../compile/expression.ts'
import { withFallbacksInside } from '../compile/fallback.ts'
import { engine } from '../compile/liquid.ts'
import { planTemplates } from '../compile/plan.ts'
import { newScope, withVariable } from '../compile/scope.ts'
import type { CompileContext } from '../source/compile-context.ts'
import { emptyFieldUsage } from '../source/field-usage.ts'

const site: CompileContext = {
  at: '',
  names: {},
  texts: {},
  pageFields: true,
  isInside: false,
  depth: 0,
  uses: emptyFieldUsage(),
  reads: [],
  signers: new Set(),
  faults: []
}

/** What prose comes to: its text, or the name of the field that is missing, or any other error. */
function outcome (run: () => unknown): string {
  try {
    return `text ${String(run())}`
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return `missing ${/undefined variable: ([\w.]+)/.exec(error.message)?.[1] ?? 'nothing'}`
  }
}

const names = fc.constantFrom('a', 'b', 'v', 'page', 'length', 'constructor')
const computed = fc.constantFrom('a.size', 'b.first', 'v.last')
const path = fc.oneof({ weight: 30, arbitrary: fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.')) }, computed)
const literal = fc.constantFrom('\'\'', '\'x\'', '0', '1.5', 'true', 'false')
const operand = fc.oneof({ weight: 3, arbitrary: path }, literal)
const compared = fc.tuple(path, fc.constantFrom('==', '!='), fc.oneof({ weight: 9, arbitrary: literal }, path))
const comparison = fc.oneof(operand, compared.map((parts) => parts.join(' ')))
const condition = fc.oneof(comparison, comparison.map((part) => `not ${part}`),
  fc.tuple(comparison, fc.constantFrom('and', 'or'), comparison).map((parts) => parts.join(' ')))
const filter = fc.oneof(operand.map((value) => `default: ${value}`), fc.constantFrom('upcase', 'truncate: 3', 'append: a.b'))
const output = fc.tuple(fc.oneof(operand, condition), fc.array(filter, { maxLength: 3 }))
  .map(([value, filters]) => `{{ ${[value, ...filters].join(' | ')} }}`)
const prose = fc.tuple(output, condition, output, condition, output)
  .map(([first, one, then, other, last]) => `* ${first}\n{% if ${one} %}${then}{% elsif ${other} %}-{% else %}${last}{% endif %}`)

const leaf = fc.oneof(fc.constantFrom<unknown>(null, true, false, 0, 1.5, '', 'x', '*y*'), fc.array(fc.constant('x'), { maxLength: 2 }))
const record = (value: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> =>
  fc.dictionary(fc.constantFrom('a', 'b', 'v', 'length'), value, { maxKeys: 3 })
const data = record(fc.oneof(leaf, record(fc.oneof(leaf, record(leaf)))))

void t.test('prose that is evaluated directly comes to what Liquid makes of it', (t) => {
  let planned = 0
  fc.assert(fc.property(prose, data, leaf, (source, data, variable) => {
    const templates = engine.parse(source)
    withFallbacksInside(templates)
    const plan = planTemplates(templates)
    if (plan === undefined) return true
    planned++
    const scope = withVariable(newScope(data), 'v', variable, '/v')
    const missing = (path: readonly string[]): Error => new Error(`undefined variable: ${path.join('.')}`)
    const own = outcome(() => plan({ ...readingOf(scope, site, 'strict', () => ''), missing }))
    return own === outcome(() => engine.renderSync(templates, liquidContext(scope, site, 'strict')))
  }), { numRuns: 1_000 })
  t.ok(planned > 250, `${String(planned)} of 1,000 are evaluated directly`)
  t.end()
})
