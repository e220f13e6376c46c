import t from 'tap'
import { has, lacks } from '../../../../test/support/matching.ts'
import type { TemplateSource } from '../model/model.ts'
import { faultsOf, pagesOf, pdfOf, problemsOf, type Text } from './support.ts'

type Body = TemplateSource['body']
type Window = 'din-5008-a' | 'din-5008-b' | 'fr'

const millimetre = 72 / 25.4
const lines = Array.from({ length: 6 }, (_, index) => `Line ${String(index + 1)}`).join('\n')

function letter (window: Window, more: object = {}): Body {
  return [
    { address: { window, text: lines, sender: 'Northwind · Dublin', beside: [{ paragraph: 'Beside' }], ...more } },
    { paragraph: 'Under' }
  ]
}

async function found (body: Body, text: string, more: Partial<TemplateSource> = {}, page = 0): Promise<Text> {
  const texts = (await pagesOf(await pdfOf(body, {}, more)))[page] ?? []
  const one = texts.find((piece) => piece.text === text)
  if (one === undefined) throw new Error(`"${text}" is not among ${texts.map((piece) => piece.text).join(', ')}`)
  return one
}

/**
 * Millimetres from the left and top: where the recipient begins, the room under that point, where the sender's line is in, what
 * stands beside, and where the letter goes on.
 */
const windows: Record<
  Window,
  { left: number, top: number, height: number, sender: [from: number, to: number], beside: [left: number, top: number], under: number }
> = {
  'din-5008-a': { left: 25, top: 44.7, height: 27.3, sender: [39.7, 44.7], beside: [125, 32], under: 80.46 },
  'din-5008-b': { left: 25, top: 62.7, height: 27.3, sender: [57.7, 62.7], beside: [125, 50], under: 98.46 },
  fr: { left: 110, top: 55, height: 33, sender: [50, 55], beside: [20, 50], under: 96.46 }
}

for (const [window, place] of Object.entries(windows) as [Window, typeof windows[Window]][]) {
  void t.test(`behind a window ${window} the address stands where the envelope shows it`, async (t) => {
    const [first, last, sender, beside, under] = await Promise.all(
      ['Line 1', 'Line 6', 'Northwind · Dublin', 'Beside', 'Under'].map((text) => found(letter(window), text))
    )
    const mm = (points = NaN): number => points / millimetre
    t.equal(mm(first?.x).toFixed(2), place.left.toFixed(2))
    t.ok(mm(first?.y) > place.top && mm(first?.y) < place.top + 4.5, 'the first line is the first of its zone')
    t.ok(mm(last?.y) < place.top + place.height, 'six lines fit')
    t.equal(mm(sender?.x).toFixed(2), place.left.toFixed(2))
    t.ok(mm(sender?.y) > place.sender[0] && mm(sender?.y) < place.sender[1] - 0.5, 'the sender stands above')
    t.equal(mm(beside?.x).toFixed(2), place.beside[0].toFixed(2))
    t.ok(mm(beside?.y) > place.beside[1] && mm(beside?.y) < place.beside[1] + 4.5)
    t.ok(mm(under?.y) > place.under && mm(under?.y) < place.under + 8, 'the letter goes on under the window')
  })
}

void t.test('an address stands at its place whatever the margins, the header and the text above it are', async (t) => {
  const margins = { page: { margins: { top: 10, left: 30, right: 12 } } }
  const plain = await found(letter('din-5008-b'), 'Line 1', margins)
  const head: Body = [{ heading: 'Letterhead' }, { rule: {} }, ...letter('din-5008-b')]
  t.same(await found(head, 'Line 1', margins), plain)
  t.same(await found(letter('din-5008-b'), 'Line 1', { header: [{ paragraph: 'Header' }] }), await found(letter('din-5008-b'), 'Line 1'))
  t.same(await found(head, 'Under', margins), await found(letter('din-5008-b'), 'Under', margins),
    'and the letter goes on at the same height')
})

void t.test('each letter of many has its address on its first page', async (t) => {
  const body: Body = [{
    each: 'people',
    as: 'person',
    pageBreak: true,
    do: [{ address: { window: 'fr', text: '{{ person }}' } }, { paragraph: 'Dear {{ person }}' }]
  }]
  const pages = await pagesOf(
    await pdfOf(body, { people: ['Ada', 'Bob', 'Cem'] }, { firstHeader: [{ spacer: 20 }, { paragraph: 'First' }] })
  )
  t.same(
    pages.map((page) =>
      page.filter(({ text }) => /^(Ada|Bob|Cem)$/.test(text)).map(({ text, x, y }) => [text, Math.round(x), Math.round(y)])
    ),
    [[['Ada', 312, 164]], [['Bob', 312, 164]], [['Cem', 312, 164]]]
  )
})

void t.test('a long address becomes smaller, and one that no window holds is refused', async (t) => {
  const nine = Array.from({ length: 9 }, (_, index) => `Line ${String(index + 1)}`).join('\n')
  const last = await found(letter('din-5008-b', { text: nine }), 'Line 9', { style: { size: 10 } })
  t.ok(last.y < (62.7 + 27.3) * millimetre)
  has(t, await problemsOf(letter('din-5008-b', { text: `${nine}\n${nine}` })), [{ code: 'no_room', message: /too long for the window/ }])
})

void t.test('what stands before an address must not reach into the window', async (t) => {
  has(t, await problemsOf([{ spacer: 60 }, ...letter('din-5008-b')]), [{ code: 'no_room', message: /top of its page/ }])
  t.same(await problemsOf([{ spacer: 30 }, ...letter('din-5008-b')]), [])
})

void t.test('what stands beside an address pushes the letter down when it is higher', async (t) => {
  const tall = await found(letter('din-5008-b', { beside: [{ spacer: 80 }, { paragraph: 'Beside' }] }), 'Under')
  t.ok(tall.y > (50 + 80) * millimetre)
})

void t.test('an address stands directly in the body', (t) => {
  const block = letter('fr')[0] ?? { spacer: 1 }
  has(t, faultsOf([{ columns: { items: [{ do: [block] }] } }]), [{
    path: '/body/0/columns/items/0/do/0/address',
    message: /directly in the body/
  }])
  has(t, faultsOf([{ group: [block] }]), [{ message: /directly in the body/ }])
  has(t, faultsOf([{ paragraph: 'x' }], { header: [block] }), [{ message: /directly in the body/ }])
  t.same(faultsOf([{ if: 'a', then: [block] }]), [])
  t.end()
})

void t.test('a group stays on one page while a page can hold it', async (t) => {
  const group: Body[number] = { group: [{ paragraph: 'begin' }, { spacer: 60 }, { paragraph: 'end' }] }
  for (let height = 100; height < 250; height += 10) {
    const pages = await pagesOf(await pdfOf([{ spacer: 1 }, { paragraph: 'x' }, { spacer: height }, group]))
    const page = pages.find((texts) => texts.some(({ text }) => text === 'begin'))
    t.ok(page?.some(({ text }) => text === 'end'), `${String(height)} mm above it`)
  }
  const words = Array.from({ length: 3000 }, (_, index) => `w${String(index)}`).join(' ')
  const pages = await pagesOf(await pdfOf([{ group: [{ paragraph: words }] }]))
  t.equal(pages.flat().map(({ text }) => text).join(' ').match(/w\d+/g)?.length, 3000, 'a group higher than a page goes on over pages')
})

void t.test('a page break per item stands between the items that show something', async (t) => {
  const body: Body = [
    { each: 'items', as: 'item', pageBreak: true, do: [{ if: 'item.show', then: [{ paragraph: '{{ item.name }}' }] }] },
    { paragraph: 'end' }
  ]
  const items = [{ name: 'a' }, { name: 'b', show: true }, { name: 'c' }, { name: 'd', show: true }, { name: 'e' }]
  t.same((await pagesOf(await pdfOf(body, { items }))).map((page) => page.map(({ text }) => text)), [['b'], ['d', 'end']])
  t.same((await pagesOf(await pdfOf(body, { items: [] }))).map((page) => page.map(({ text }) => text)), [['end']])
})

void t.test('loops stand inside of loops', async (t) => {
  const body: Body = [{
    each: 'orders',
    as: 'order',
    do: [
      { heading: { text: '{{ order.id }}', level: 3 } },
      {
        each: 'order.lines',
        as: 'line',
        do: [{ each: 'line.parts', as: 'part', do: [{ paragraph: '{{ order.id }}/{{ line.id }}/{{ part }}' }] }]
      }
    ]
  }]
  const data = {
    orders: [{ id: 1, lines: [{ id: 'a', parts: ['x', 'y'] }, { id: 'b', parts: [] }] }, { id: 2, lines: [{ id: 'c', parts: ['z'] }] }]
  }
  t.same((await pagesOf(await pdfOf(body, data))).flat().map(({ text }) => text), ['1', '1/a/x', '1/a/y', '2', '2/c/z'])
})

const grouped: Body = [{
  table: {
    groups: {
      each: 'orders',
      as: 'order',
      heading: 'Order {{ order.id }}',
      totals: [{ label: 'Sum of {{ order.id }}', value: 'order.sum', type: 'money' }]
    },
    each: 'order.lines',
    as: 'line',
    columns: [{ header: 'Item', text: '{{ order.id }}.{{ line }}', width: 3 }, { header: 'Amount', value: 'line', type: 'number' }],
    totals: [{ label: 'All', value: 'total', type: 'money', strong: true }]
  }
}]

void t.test('the rows of a table stand in groups, each with its heading and totals', async (t) => {
  const pages = await pagesOf(
    await pdfOf(grouped, { orders: [{ id: 'A', sum: 3, lines: [1, 2] }, { id: 'B', sum: 0, lines: [] }], total: 3 })
  )
  t.same(pages.flat().map(({ text }) => text), ['Item', 'Amount', 'Order A', 'A.1', '1', 'A.2', '2', 'Sum of A', '€3.00', 'Order B',
    'Sum of B', '€0.00', 'All', '€3.00'])
})

void t.test('the heading of a group is never the last thing on a page, nor a total the first', async (t) => {
  for (let rows = 30; rows < 50; rows++) {
    const orders = [{ id: 'A', sum: 1, lines: Array.from({ length: rows }, (_, index) => index) }, { id: 'B', sum: 1, lines: [1] }]
    for (const page of await pagesOf(await pdfOf(grouped, { orders, total: 3 }))) {
      const texts = page.map(({ text }) => text)
      lacks(t, texts.at(-1), /^Order/, `${String(rows)} rows`)
      lacks(t, texts[2], /^(Sum|All)/, `${String(rows)} rows`)
    }
  }
})

const many: Body = [{ each: 'lines', as: 'line', do: [{ paragraph: 'Line {{ line }}' }] }]
const hundred = { lines: Array.from({ length: 100 }, (_, index) => index) }

void t.test('the first page may have a header of its own, of another height', async (t) => {
  const pages = await pagesOf(
    await pdfOf(many, hundred, {
      header: [{ paragraph: 'Later' }],
      firstHeader: [{ heading: 'First' }, { spacer: 40 }, { paragraph: '{{ page }}/{{ pages }}' }]
    })
  )
  t.ok(pages.length >= 2)
  t.same(pages.map((page) => [page[0]?.text, page.some(({ text }) => text === 'Line 0')]), [
    ['First', true],
    ...pages.slice(1).map(() => ['Later', false])
  ])
  t.ok(pages[0]?.some(({ text }) => text === `1/${String(pages.length)}`))
  const starts = pages.map((page) => page.find(({ text }) => text.startsWith('Line'))?.y ?? 0)
  t.ok((starts[0] ?? 0) > (starts[1] ?? 0) + 40 * millimetre, 'the body begins under it')
  t.same(pages.flat().filter(({ text }) => text.startsWith('Line')).map(({ text }) => text),
    hundred.lines.map((line) => `Line ${String(line)}`), 'and nothing is lost')
  for (const page of pages) t.ok(page.every(({ y }) => y < (297 - 20) * millimetre))
})

void t.test('a first page without a header leaves no room for it', async (t) => {
  const [first, second] = await pagesOf(await pdfOf(many, hundred, { header: [{ spacer: 30 }, { paragraph: 'Later' }], firstHeader: [] }))
  has(t, first?.[0], { text: 'Line 0' })
  t.ok((first?.[0]?.y ?? 99) < 20 * millimetre + 15)
  has(t, second?.[0], { text: 'Later' })
})

void t.test('what fits under a low header but not under a high one moves to the second page whole', async (t) => {
  const pages = await pagesOf(
    await pdfOf([{ group: [{ paragraph: 'begin' }, { spacer: 230 }, { paragraph: 'end' }] }], {}, {
      firstHeader: [{ spacer: 50 }, { paragraph: 'First' }]
    })
  )
  t.same(pages.map((page) => page.map(({ text }) => text)), [['First'], ['begin', 'end']])
})

void t.test('a watermark is painted first on every page, from the lower left to the upper right', async (t) => {
  const pdf = await pdfOf(many, { ...hundred, draft: true }, { watermark: '{% if draft %}DRAFT{% endif %}' })
  const { getDocumentProxy } = await import('unpdf')
  const document = await getDocumentProxy(Uint8Array.from(pdf.bytes))
  for (let number = 1; number <= document.numPages; number++) {
    const { items } = await (await document.getPage(number)).getTextContent()
    const [first] = items.filter((item) => 'str' in item)
    t.equal(first?.str, 'DRAFT')
    const [a = 0, b = 0] = (first?.transform ?? []) as number[]
    t.equal(Math.round(Math.atan2(b, a) * 180 / Math.PI), 55, 'along the diagonal of A4')
  }
  t.notOk(
    (await pagesOf(await pdfOf(many, hundred, { watermark: '{% if draft %}DRAFT{% endif %}' }))).flat().some(({ text }) => text === 'DRAFT')
  )
})

void t.test('a watermark of any length keeps to the page', async (t) => {
  for (const watermark of ['X', 'NOT VALID WITHOUT THE SIGNATURE OF THE MANAGING DIRECTOR']) {
    const [page = []] = await pagesOf(await pdfOf([{ spacer: 5 }, { paragraph: 'x' }], {}, { watermark }))
    const mark = page.find(({ text }) => text === watermark)
    t.ok((mark?.x ?? -1) > 0 && (mark?.y ?? 0) < 842 && (mark?.y ?? 0) > 0, watermark)
  }
})
