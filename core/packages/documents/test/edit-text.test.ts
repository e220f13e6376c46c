import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import type { TextEdit } from '../edit/change.ts'
import { blockKinds, CannotEdit, dataFields, editText, newItem, outlineOf, textOfItem } from '../index.ts'
import { Block } from '../model/blocks.ts'

const folder = new URL('../../../../templates/', import.meta.url)
const textOf = (path: string): string => readFileSync(new URL(path, folder), 'utf8')
const mail = textOf('email-invoice/template.yaml')

const yaml = `# A letter
name: Letter
service: file
locale: en
header: []
body:
  # The greeting
  - heading: Hello   # as it was
  - paragraph: { text: "Dear {{ name }}", size: 9 }   # in braces
  - if: notes
    then:
      - paragraph: |
          One
          Two
    # or not
    else: []
  - columns:
      items:
        - { width: 1, do: [{ paragraph: 'left' }] }
        - width: 2
          do:
            - spacer: 5
`

await t.test('an edit changes what it names and no other character', (t) => {
  const edits = [
    [{ do: 'set', path: '/body/0/heading', value: 'Good day: you' }, 'heading: Hello   #', 'heading: "Good day: you"   #'],
    [{ do: 'set', path: '/body/1/paragraph/text', value: 'Dear "you"' }, '"Dear {{ name }}"', '"Dear \\"you\\""'],
    [{ do: 'set', path: '/body/1/paragraph/size', value: undefined }, ', size: 9 }', ' }'],
    [{ do: 'set', path: '/body/1/paragraph/color', value: 'muted' }, 'size: 9 }', 'size: 9, color: muted }'],
    [{ do: 'set', path: '/body/2/if', value: 'a == 1' }, 'if: notes', 'if: a == 1'],
    [{ do: 'set', path: '/body/2/then/0/paragraph', value: 'One\nTwo\nThree\n' }, '          Two\n', '          Two\n          Three\n'],
    [{ do: 'set', path: '/body/3/columns/gap', value: 4 }, '            - spacer: 5\n', '            - spacer: 5\n      gap: 4\n'],
    [{ do: 'set', path: '/page/size', value: 'A4' }, '            - spacer: 5\n', '            - spacer: 5\npage: { size: A4 }\n'],
    [{ do: 'set', path: '/locale', value: undefined }, 'locale: en\n', ''],
    [{ do: 'remove', path: '/body/1' }, '  - paragraph: { text: "Dear {{ name }}", size: 9 }   # in braces\n', ''],
    [{ do: 'remove', path: '/body/0' }, '  # The greeting\n  - heading: Hello   # as it was\n', ''],
    [{ do: 'remove', path: '/body/2/then/0' }, 'then:\n      - paragraph: |\n          One\n          Two', 'then: []'],
    [{ do: 'insert', list: '/header', index: 0, text: newItem({ rule: {} }) }, 'header: []', 'header:\n  - rule: {}'],
    [{ do: 'insert', list: '/footer', index: 0, text: newItem({ rule: {} }) }, 'spacer: 5\n', 'spacer: 5\nfooter:\n  - rule: {}\n'],
    [{ do: 'insert', list: '/body', index: 1, text: '- spacer: 3\n' }, '# as it was\n', '# as it was\n  - spacer: 3\n'],
    [{ do: 'insert', list: '/body', index: 4, text: '- spacer: 3\n' }, 'spacer: 5\n', 'spacer: 5\n  - spacer: 3\n'],
    [{ do: 'insert', list: '/body/3/columns/items/0/do', index: 1, text: '- spacer: 3\n' }, '[{ paragraph: \'left\' }]',
      '[ { paragraph: \'left\' }, { spacer: 3 } ]']
  ] as const
  for (const [edit, before, after] of edits) {
    t.ok(yaml.includes(before), before)
    t.equal(editText(yaml, edit), yaml.replace(before, () => after), JSON.stringify(edit))
  }
  for (const value of ['\n', ' \n', 'One\n\n', 'One\nTwo ', `One\n\n  ${'long '.repeat(20)}\n \n`]) {
    const edited = editText(yaml, { do: 'set', path: '/body/2/then/0/paragraph', value })
    t.equal(parse(edited).body[2].then[0].paragraph, value, 'with the space at its end')
  }
  const inBraces = editText(yaml, { do: 'set', path: '/body/1/paragraph/text', value: ':\n|' })
  t.equal(parse(inBraces).body[1].paragraph.text, ':\n|')
  const moved = editText(yaml, { do: 'move', path: '/body/0', by: 1 })
  t.ok(moved.includes('in braces\n  # The greeting\n  - heading: Hello   # as it was\n  - if'), 'comments go with their block')
  t.equal(editText(moved, { do: 'move', path: '/body/1', by: -1 }), yaml, 'and back')
  const item = textOfItem(yaml, '/body/2')
  t.equal(editText(editText(yaml, { do: 'remove', path: '/body/2' }), { do: 'insert', list: '/body', index: 2, text: item }), yaml,
    'what is removed comes back as it was')
  t.end()
})

await t.test('several edits at once are the same as one after another', (t) => {
  const edits: TextEdit[] = [
    { do: 'set', path: '/body/0/heading', value: 'Good day: you' },
    { do: 'set', path: '/body/1/paragraph/text', value: 'Dear "you"' },
    { do: 'set', path: '/body/1/paragraph/size', value: undefined },
    { do: 'set', path: '/page/size', value: 'A4' },
    { do: 'set', path: '/page/orientation', value: 'landscape' },
    { do: 'insert', list: '/header', index: 0, text: newItem({ rule: {} }) },
    { do: 'move', path: '/body/0', by: 1 },
    { do: 'remove', path: '/body/2' }
  ]
  t.equal(editText(yaml, ...edits), edits.reduce((text, edit) => editText(text, edit), yaml))
  t.equal(editText(yaml), yaml)
  t.throws(() => editText(yaml, ...edits, { do: 'remove', path: '/body/3' }), { message: 'there is no such place' })
  t.end()
})

await t.test('any edits of a real template leave what they do not name: the text says what the edited data say', (t) => {
  const places: string[] = []
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, inner] of Object.entries(value)) {
      places.push(`${path}/${key}`)
      walk(inner, `${path}/${key}`)
    }
  }
  walk((parse(mail) as { body: unknown }).body, '/body')
  const value = fc.oneof(fc.string(), fc.stringMatching(/^[a-z:#\n '"{}|-]{0,30}$/), fc.integer(), fc.boolean(), fc.constant(undefined))
  const edit = fc.constantFrom(...places).chain((path): fc.Arbitrary<TextEdit> =>
    /\/\d+$/.test(path)
      ? fc.constantFrom({ do: 'remove', path }, { do: 'move', path, by: 1 }, { do: 'move', path, by: -1 })
      : value.map((set) => ({ do: 'set', path, value: set }))
  )
  fc.assert(
    fc.property(edit, (one) => {
      try {
        // It throws where the text does not say afterwards what was asked for.
        const edited = editText(mail, one)
        const own = new Set(edited.split('\n'))
        const lost = mail.split('\n').filter((line) => !own.has(line) && line.startsWith('#'))
        return lost.length === 0 && edited.startsWith(mail.slice(0, mail.indexOf('\nbody:')))
      } catch (error) {
        // The last one cannot go down, and a list is no field.
        return error instanceof CannotEdit && error.message === 'there is no such place'
      }
    }),
    { numRuns: 60 }
  )
  t.end()
})

await t.test('what stands at several places is left alone, and what is no YAML', (t) => {
  const shared = 'body:\n  - paragraph: &greeting Hello\n  - paragraph: *greeting\n' +
    '  - group: &blocks [{ spacer: 1 }]\n  - group: *blocks\n'
  t.throws(() => editText(shared, { do: 'set', path: '/body/0/paragraph', value: 'Bye' }), {
    message: 'the edit would change something else'
  })
  t.throws(() => editText(shared, { do: 'set', path: '/body/3/group/0/spacer', value: 2 }), { message: 'it stands at another place too' })
  t.equal(editText(shared, { do: 'set', path: '/body/1/paragraph', value: 'Bye' }), shared.replace('*greeting', 'Bye'))
  t.throws(() => editText('body: [', { do: 'set', path: '/body', value: 1 }), { message: 'it is no YAML' })
  t.throws(() => editText(yaml, { do: 'remove', path: '/body/9' }), { message: 'there is no such place' })
  t.throws(() => editText(yaml, { do: 'insert', list: '/body', index: 0, text: '- a: 1\n- b: 2\n' }), { message: 'it is no item' })
  t.equal(outlineOf('body: ['), undefined)
  t.equal(outlineOf('- a'), undefined)
  t.equal(outlineOf(shared)?.lists[2]?.blocks[3]?.kind, undefined, 'an alias has no form')
  t.end()
})

await t.test('an outline has the blocks of a template at all depths, each where it stands', (t) => {
  t.strictSame(blockKinds, Block.$defs.Block.anyOf.map(({ properties }) => Object.keys(properties)[0]))
  const outline = outlineOf(yaml)
  const [header, , body] = outline?.lists ?? []
  t.strictSame(header?.blocks, [])
  t.strictSame(body?.blocks.map(({ path, kind }) => [path, kind]), [
    ['/body/0', 'heading'],
    ['/body/1', 'paragraph'],
    ['/body/2', 'if'],
    ['/body/3', 'columns']
  ])
  t.strictSame(body?.blocks[2]?.lists.map(({ path, blocks }) => [path, blocks.length]), [['/body/2/then', 1], ['/body/2/else', 0]])
  const lines = yaml.split('\n')
  const at = (text: string): string | undefined => {
    const line = lines.findIndex((one) => one.includes(text))
    return outline?.blockAt(line + 1, (lines[line] ?? '').indexOf(text) + 1)
  }
  t.strictSame([at('heading'), at('Two'), at('left'), at('spacer'), at('name:')], ['/body/0', '/body/2/then/0',
    '/body/3/columns/items/0/do/0', '/body/3/columns/items/1/do/0', ''])
  t.end()
})

await t.test('the fields of the data are those of the schema, with those of the loops first', (t) => {
  const fields = dataFields(JSON.parse(textOf('invoice/schema.json')), JSON.parse(textOf('invoice/sample.json')), [{
    each: 'lines',
    as: 'line'
  }])
  const named = (path: string) => fields.find((field) => field.path === path)
  t.equal(fields[0]?.path, 'line.id')
  t.strictSame(named('number'), { path: 'number', type: 'text', required: true, sample: '2026-0142' })
  t.strictSame(named('date')?.type, 'date')
  t.strictSame(named('lines')?.type, 'list')
  t.strictSame(named('line.unitPrice')?.type, 'number')
  t.strictSame(named('customer.name')?.required, true)
  t.ok(fields.length <= 120)
  t.strictSame(dataFields({ $ref: '#' }, {}), [], 'a schema without end')
  const untyped = { properties: { lines: { type: 'array' } } }
  t.strictSame(dataFields(untyped, { lines: ['Tea'] }, [{ each: 'lines', as: 'line' }]).map(({ path }) => path), ['line', 'lines'])
  t.end()
})

await t.test('few schemas are looked at where fields contain themselves, and what the sample has is found all the same', (t) => {
  let looks = 0
  const itself = (): object => ({
    get $ref () {
      if (++looks > 100_000) throw new Error('too many looks')
      return '#'
    }
  })
  const others = Array.from({ length: 200 }, (_, index) => [`part${String(index)}`, itself()])
  const schema = { properties: { ...Object.fromEntries(others), name: { type: 'string' } } }
  const paths = dataFields(schema, { part150: { part3: { name: 'Ada' } } }).map(({ path }) => path)
  t.ok(paths.includes('name') && paths.includes('part150.name') && paths.includes('part150.part3.name'))
  t.ok(paths.length <= 120)
  // Names of a list, each of which looks at all fields of the one before.
  const long = Array.from({ length: 20_000 }, () => 'part0').join('.')
  t.strictSame(dataFields(schema, {}, [{ each: long, as: 'line' }]), [], 'nothing is left to look for')
  t.end()
})

await t.test('a text that is looked at again is not read again, and few texts are kept', (t) => {
  const textOf = (index: number): string => `body: [{ paragraph: "${String(index)}" }]`
  const first = outlineOf(textOf(0))
  t.equal(outlineOf(textOf(0)), first)
  for (let index = 1; index <= 8; index++) outlineOf(textOf(index))
  t.not(outlineOf(textOf(0)), first)
  t.strictSame(outlineOf(textOf(0))?.value, first?.value)
  t.end()
})
