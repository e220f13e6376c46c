import { inflateSync } from 'node:zlib'
import t from 'tap'
import { contains, has } from '../../../../test/support/matching.ts'
import { RenderError } from '../model/errors.ts'
import { compiled, faultsOf, made, pagesOf, pdfOf } from './support.ts'

/** A horizontal line on a page, in points from the top left corner. */
type Line = { x: number, y: number, right: number }

/** The lines that are drawn on each page. */
function linesOf ({ bytes }: { bytes: Uint8Array }): Line[][] {
  return Buffer.from(bytes).toString('latin1').split('endobj').flatMap((object) => {
    const at = object.indexOf('stream\n')
    if (at === -1 || !object.includes('/FlateDecode') || object.includes('/Length1')) return []
    const content = inflateSync(Buffer.from(object.slice(at + 7), 'latin1')).toString('latin1')
    return content.includes(' cm\n')
      ? [
        [...content.matchAll(/([\d.]+) ([\d.]+) m\n([\d.]+) [\d.]+ l\n/g)].map(([, x, y, right]) => ({
          x: Number(x),
          y: Number(y),
          right: Number(right)
        }))
      ]
      : []
  })
}

/** Places are rounded to hundredths of a point. */
function sameLine (drawn: Line | undefined, expected: Line): boolean {
  return drawn !== undefined &&
    [drawn.x - expected.x, drawn.y - expected.y, drawn.right - expected.right].every((difference) => Math.abs(difference) < 0.02)
}

const two = [
  { paragraph: 'text' },
  {
    columns: {
      gap: 10,
      items: [
        { do: [{ signature: { signer: 1, label: 'Ada' } }] },
        { do: [{ paragraph: 'above' }, { signature: { signer: 2, label: 'Bob', width: 50, height: 15 } }] }
      ]
    }
  }
]

void t.test('in a document from right to left one signs at the right', async (t) => {
  const pdf = await pdfOf([{ signature: { signer: 1, label: 'Ada', width: 50 } }], {}, { locale: 'he', page: { margins: { right: 20 } } })
  const [place] = pdf.signatures
  has(t, place, { pageSize: { width: 595.28, height: 841.89 } })
  t.ok(place !== undefined && Math.abs(place.x + place.width - (210 - 20) * 72 / 25.4) < 0.3)
})

void t.test('the places to sign are where the PDF draws their lines, with the label under them', async (t) => {
  const pdf = await pdfOf(two)
  const [texts = []] = await pagesOf(pdf)
  const [lines = []] = linesOf(pdf)
  t.same(pdf.signatures.map(({ signer, page }) => [signer, page]), [[1, 1], [2, 1]])
  t.equal(lines.length, 2)
  for (const [index, { x, y, width, height }] of pdf.signatures.entries()) {
    const label = texts.find(({ text }) => text === ['Ada', 'Bob'][index])
    t.ok(sameLine(lines[index], { x, y: y + height, right: x + width }), 'the line is the lower edge')
    t.ok(label !== undefined && Math.abs(label.x - x) < 0.1 && label.y > y + height && label.y < y + height + 20,
      'the label is below the line')
    t.notOk(texts.some((text) => text.y > y + 1 && text.y < y + height && text.x >= x && text.x < x + width),
      'nothing stands where one signs')
  }
  has(t, pdf.signatures[1], { width: 141.73, height: 42.52 }, 'millimetres become points')
  has(t, pdf.signatures[0], { x: 56.69, width: 198.43, height: 56.69 }, '70 by 20 millimetres unless given')
})

void t.test('a place to sign is never cut, and says the page that it is on', async (t) => {
  const pages = new Set<number>()
  for (let above = 180; above < 260; above += 4) {
    const pdf = await pdfOf([{ paragraph: 'start' }, { spacer: above }, { signature: { signer: 1, label: 'Ada' } }])
    const [place] = pdf.signatures
    const texts = (await pagesOf(pdf))[(place?.page ?? 0) - 1] ?? []
    t.ok(place !== undefined && place.y + place.height < 842 - 56 && texts.some(({ text }) => text === 'Ada'),
      `${String(above)} mm above it`)
    pages.add(place?.page ?? 0)
  }
  t.same([...pages], [1, 2])
})

void t.test('a place to sign is never wider than its column', async (t) => {
  const { signatures } = await pdfOf([{
    columns: { gap: 0, items: Array.from({ length: 4 }, () => ({ do: [{ signature: { signer: 1 } }] })) }
  }])
  t.same(signatures.map(({ width }) => Math.round(width)), [120, 120, 120, 120])
})

void t.test('signers are matched by their place in the list, and name what has no label', async (t) => {
  const pdf = await made('pdf', compiled([{ signature: { signer: 2 } }, { signature: { signer: 1, label: 'The Provider' } }]), {}, [
    'Ada',
    'Bob'
  ])
  t.same((await pagesOf(pdf)).flat().map(({ text }) => text), ['Bob', 'The Provider'])
  t.same(pdf.signatures.map(({ signer }) => signer), [2, 1])
})

void t.test('a template without places gets a page at the end with one for each signer', async (t) => {
  const names = Array.from({ length: 9 }, (_, index) => `Signer ${String(index + 1)}`)
  const pdf = await made('pdf', compiled([{ paragraph: 'The text.' }], { title: 'Contract {{ n }}' }), { n: 5 }, names)
  const pages = await pagesOf(pdf)
  t.same(pages[0]?.map(({ text }) => text), ['The text.'])
  t.equal(pages[1]?.[0]?.text, 'Contract 5')
  t.same(pages.slice(1).flat().slice(1).map(({ text }) => text), names)
  t.same(pdf.signatures.map(({ signer }) => signer), [1, 2, 3, 4, 5, 6, 7, 8, 9])
  t.equal(pdf.pages, 3, 'as many pages as it takes')
  for (const { signer, page, y, height } of pdf.signatures) {
    const label = pages[page - 1]?.find(({ text }) => text === `Signer ${String(signer)}`)
    t.ok(label !== undefined && label.y > y + height && label.y < y + height + 20)
  }
})

void t.test('signers that the template forgot get their place on that page too', async (t) => {
  const pdf = await made('pdf', compiled([{ columns: { items: [{ do: [{ signature: { signer: 2 } }] }] } }]), {}, ['Ada', 'Bob', 'Cy'])
  t.same(pdf.signatures.map(({ signer, page }) => [signer, page]), [[2, 1], [1, 2], [3, 2]])
})

void t.test('without signers a document keeps its places, and gets no page', async (t) => {
  t.same((await pdfOf(two)).signatures.length, 2)
  const { pages, signatures } = await made('pdf', compiled([{ paragraph: 'x' }]), {}, [])
  t.same([pages, signatures], [1, []])
})

void t.test('a place for a signer that is not there ends in an error', async (t) => {
  const error = await made('pdf', compiled(two), {}, ['Ada']).then(() => undefined, (error: unknown) => error)
  t.type(error, RenderError)
  has(t, error, {
    problems: [{
      path: '',
      code: 'too_few_signers',
      message: 'With these data, the template has a place for signer 2 to sign; the request has 1 signer.'
    }]
  })
})

void t.test('signatures stand in the body only', (t) => {
  has(t, faultsOf([{ paragraph: 'x' }], { footer: [{ columns: { items: [{ do: [{ signature: { signer: 1 } }] }] } }] }), [{
    path: '/footer/0/columns/items/0/do/0/signature',
    message: /in the body/
  }])
  t.end()
})

void t.test('columns take at least their height', async (t) => {
  const texts = async (height: number): Promise<number> => {
    const [page = []] = await pagesOf(await pdfOf([{ columns: { height, items: [{ do: [{ paragraph: 'a' }] }] } }, { paragraph: 'b' }]))
    return (page.find(({ text }) => text === 'b')?.y ?? 0) - (page.find(({ text }) => text === 'a')?.y ?? 0)
  }
  const [flat, tall] = [await texts(0), await texts(100)]
  t.ok(flat < 30)
  // 100 mm, and the distance between two blocks.
  t.equal(Math.round(tall), Math.round(100 * 72 / 25.4 + 5.4))
})

void t.test('on paper a button is a link in bold', async (t) => {
  const { bytes } = await pdfOf([{ button: { text: 'Pay', url: 'u' } }], { u: 'https://example.com/pay' })
  const source = Buffer.from(bytes).toString('latin1')
  contains(t, source, '/URI (https://example.com/pay)')
  contains(t, source, /DejaVuSans-Bold/)
})
