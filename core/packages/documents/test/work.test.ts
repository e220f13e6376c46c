import t from 'tap'
import { growthOf, maxGrowth } from '../../../../test/support/growth.ts'
import { has } from '../../../../test/support/matching.ts'
import { type CompileContext, noInclusion } from '../compile/compile-context.ts'
import { emptyFieldUsage } from '../compile/field-usage.ts'
import { engine } from '../compile/liquid.ts'
import { compileProse } from '../compile/prose.ts'
import { newScope } from '../compile/scope.ts'
import { RenderError } from '../model/errors.ts'
import { renderLimits } from '../model/limits.ts'
import { problemsOf } from './support.ts'

/** The steps that a text of a template takes with data, whether they are too many, or it fails. */
function stepsOf (text: string, data: Record<string, unknown>): number {
  const scope = newScope(data)
  try {
    compiled(text)(scope)
  } catch (error) {
    if (!(error instanceof RenderError)) throw error
  }
  return renderLimits.steps - scope.budget.steps
}

const known = new Map<string, ReturnType<typeof compileProse>>()

function compiled (text: string): ReturnType<typeof compileProse> {
  const prose = known.get(text) ?? compileProse(text, site())
  known.set(text, prose)
  return prose
}

function site (): CompileContext {
  const facts = { at: '', names: {}, texts: {}, takesBrand: false, pageFields: false, isInside: false, depth: 0 }
  return { ...facts, uses: emptyFieldUsage(), reads: [], signers: new Set(), inclusion: noInclusion(), faults: [] }
}

type Data = Record<string, unknown>
const repeated = (text: string) => (size: number): Data => ({ x: text.repeat(Math.ceil(size / text.length)), p: 'a' })
const listed = (make: (index: number) => unknown) => (size: number): Data => ({
  x: Array.from({ length: size / 8 }, (_, i) => make(i)),
  p: 'a'
})

/** What is hard for some filter: texts of one character or one opening, patterns that match nearly everywhere, lists. */
const shapes: Readonly<Record<string, (size: number) => Data>> = {
  'opened tags': repeated('<'),
  scripts: repeated('<script'),
  'closed scripts': repeated('<script></script'),
  comments: repeated('<!--'),
  spaces: repeated(' '),
  words: repeated(' x'),
  dashes: repeated('-'),
  equals: repeated('='),
  digits: repeated('1'),
  breaks: repeated('\r'),
  percents: repeated('%20'),
  brackets: repeated('['),
  accents: repeated('a\u0301\u0323'),
  emoji: repeated('\u{1f600}'),
  'a long pattern': (size) => ({ x: 'a'.repeat(size), p: `${'a'.repeat(size / 4)}b${'a'.repeat(size / 4)}` }),
  'a long pattern that ends otherwise': (size) => ({ x: 'a'.repeat(size), p: `${'a'.repeat(size / 2)}b` }),
  'a long pattern that begins otherwise': (size) => ({ x: 'a'.repeat(size), p: `b${'a'.repeat(size / 2)}` }),
  'an empty pattern': (size) => ({ x: 'a'.repeat(size), p: '' }),
  'a list of texts': listed((index) => String(index * 7919 % 1000)),
  'a list of equal texts': listed(() => 'x'.repeat(50)),
  'a list of objects': listed((index) => ({ a: index * 7919 % 1000 })),
  'a list of lists': listed(() => ['a', 'b']),
  expressions: (size) => ({ x: [1, 2], p: `i == 1${' or i == 2'.repeat(size / 16)}` }),
  'a list and a list': (size) => ({ x: Array.from({ length: size / 64 }, () => ['a']), p: ['a'] })
}

for (const name of Object.keys(engine.filters)) {
  void t.test(`the work of ${name} grows as it is counted`, async (t) => {
    const texts = [`{% assign y = x | ${name} %}`, `{% assign y = x | ${name}: ${name.endsWith('_exp') ? '"i", ' : ''}p %}`]
    for (const [shape, make] of Object.entries(shapes)) {
      for (const text of texts) {
        const counted = stepsOf(text, make(32_000)) / stepsOf(text, make(4000))
        const taken = await growthOf(4000, (size) => stepsOf(text, make(size)))
        t.ok(taken < maxGrowth * Math.max(counted / 8, 1), `${shape}: ${taken.toFixed(1)} times as long, counted ${counted.toFixed(1)}`)
      }
    }
  })
}

const tags: Readonly<Record<string, string>> = {
  for: '{% for a in x %}{{ a.a }}{% endfor %}',
  'for with its modifiers': '{% for a in x reversed limit: 1 offset: 1 %}{% endfor %}',
  'for that ends': '{% for a in x %}{% break %}{% endfor %}',
  'for that goes on': '{% for a in x %}{% continue %}{% endfor %}',
  if: '{% if x == p or x contains p or x > p %}{% endif %}',
  unless: '{% unless x != p and x <= p %}{% endunless %}',
  case: '{% case x %}{% when p %}{% when x %}{% endcase %}',
  assign: '{% assign y = x %}{% assign y = y %}',
  comment: '{% comment %}x{% endcomment %}{% # x %}'
}

for (const [name, text] of Object.entries(tags)) {
  void t.test(`the work of ${name} grows as it is counted`, async (t) => {
    for (const [shape, make] of Object.entries(shapes)) {
      const counted = stepsOf(text, make(32_000)) / stepsOf(text, make(4000))
      const taken = await growthOf(4000, (size) => stepsOf(text, make(size)))
      t.ok(taken < maxGrowth * Math.max(counted / 8, 1), `${shape}: ${taken.toFixed(1)} times as long, counted ${counted.toFixed(1)}`)
    }
  })
}

void t.test('every tag is checked above', (t) => {
  const named = Object.values(tags).join('')
  t.same(Object.keys(engine.tags).filter((tag) => !named.includes(tag)), [])
  t.end()
})

void t.test('the same template and data take the same steps, however fast they are done', (t) => {
  const text = '{% for a in x %}{{ a.a | append: "x" | upcase }}{% if a.a == 5 %}y{% endif %}{% endfor %}{{ x | map: "a" | join: ", " }}'
  const data = { x: Array.from({ length: 500 }, (_, index) => ({ a: index })) }
  const counted = stepsOf(text, data)
  t.ok(counted > 500 * 4 * 20)
  for (let run = 0; run < 5; run++) t.equal(stepsOf(text, data), counted)
  t.end()
})

/** A list that holds the one before twice: thirty of them have a billion texts, in the memory of sixty. */
const doubled = `{% assign a = "x" | split: "," %}${'{% assign a = x | push: a | push: a %}'.repeat(30)}`

const tooMuch: Readonly<Record<string, string>> = {
  'a list within itself many times over': doubled,
  'loops that do nothing': '{% for a in (1..9000) %}{% for b in (1..9000) %}{% endfor %}{% endfor %}',
  'outputs of a long text': '{% for a in (1..9000) %}{{ text }}{% endfor %}',
  'a search at every turn': '{% for a in (1..200) %}{% if text contains pattern %}{% endif %}{% endfor %}',
  'a comparison at every turn': '{% for a in (1..9000) %}{% for b in (1..9) %}{% if text == other %}{% endif %}{% endfor %}{% endfor %}',
  'a case at every turn': '{% for a in (1..9000) %}{% for b in (1..90) %}{% case x %}{% when other %}{% endcase %}{% endfor %}{% endfor %}',
  'filters that nobody sees': '{% for a in (1..9000) %}{% assign b = text | upcase %}{% endfor %}',
  'the length of a range': '{% for a in (1..999999999999) %}{% endfor %}'
}

for (const [what, text] of Object.entries(tooMuch)) {
  void t.test(`${what} ends in an error, and not by the clock`, async (t) => {
    const data = { x: ['a'], text: 'ab'.repeat(25_000), other: `${'ab'.repeat(24_999)}xx`, pattern: `${'ab'.repeat(5000)}aa` }
    has(t, await problemsOf([{ paragraph: text }], data), [{ code: 'too_large', message: /more than 100000000 steps/ }])
  })
}

void t.test('blocks spend from the same budget: expressions that show nothing, in nested lists', async (t) => {
  const none = { paragraph: '{{ none }}'.repeat(9000) }
  has(t, await problemsOf([{ each: 'list', as: 'a', do: [{ each: 'list', as: 'b', do: [none] }] }], {
    list: Array.from({ length: 200 }, () => 1),
    none: ''
  }), [{ code: 'too_large', message: /steps/ }])
})
