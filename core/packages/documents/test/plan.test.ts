import fc from 'fast-check'
import t from 'tap'
import { type CompileContext, noInclusion } from '../compile/compile-context.ts'
import { liquidContext, readingOf } from '../compile/expression.ts'
import { withFallbacksInside } from '../compile/fallback.ts'
import { emptyFieldUsage } from '../compile/field-usage.ts'
import { engine } from '../compile/liquid.ts'
import { planTemplates } from '../compile/plan.ts'
import { newScope, withVariable } from '../compile/scope.ts'

const site: CompileContext = {
  at: '',
  names: {},
  texts: {},
  takesBrand: false,
  pageFields: true,
  isInside: false,
  depth: 0,
  uses: emptyFieldUsage(),
  reads: [],
  signers: new Set(),
  inclusion: noInclusion(),
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

/** What the plan of prose and Liquid come to; undefined where Liquid must render it. */
function both (source: string, data: Record<string, unknown>, variable: unknown): [own: string, liquid: string] | undefined {
  const templates = engine.parse(source)
  withFallbacksInside(templates)
  const plan = planTemplates(templates)
  if (plan === undefined) return undefined
  const scope = withVariable(newScope(data), 'v', variable, '/v')
  const missing = (path: readonly string[]): Error => new Error(`undefined variable: ${path.join('.')}`)
  return [
    outcome(() => plan({ ...readingOf(scope, site, 'strict', () => ''), missing })),
    outcome(() => engine.renderSync(templates, liquidContext(scope, site, 'strict')))
  ]
}

void t.test('prose that is evaluated directly comes to what Liquid makes of it', (t) => {
  let planned = 0
  fc.assert(fc.property(prose, data, leaf, (source, data, variable) => {
    const found = both(source, data, variable)
    if (found !== undefined) planned++
    return found?.[0] === found?.[1]
  }), { numRuns: 1_000 })
  t.ok(planned > 250, `${String(planned)} of 1,000 are evaluated directly`)
  t.end()
})

void t.test('a field of each item of a list is what Liquid finds', (t) => {
  const list = [{ a: 'y' }, null, { a: { b: 1 } }, 'x', ['z'], { a: null }]
  for (const name of ['a', 'a.b', 'size', 'length']) {
    for (const value of [list, { a: 'y' }, 'x', null]) {
      const [own, liquid] = both(`{{ v | map: '${name}' | json }}`, {}, value) ?? []
      t.equal(own, liquid, `${name} of ${JSON.stringify(value)}: ${String(liquid)}`)
    }
  }
  t.end()
})
