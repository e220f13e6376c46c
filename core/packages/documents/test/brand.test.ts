import t from 'tap'
import { contains, has, lacks } from '../../../../test/support/matching.ts'
import { withPlaceholderImages } from '../data/placeholder-image.ts'
import { compileTemplate, renderHtml, renderPdf, type TemplateSource, withBrand } from '../index.ts'
import { TemplateError } from '../model/errors.ts'

const point = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQ9esEAAGAAPXyUV94AAAAAElFTkSuQmCC'
const letter: TemplateSource = {
  name: 'Letter',
  service: 'file',
  locale: 'en',
  style: { accent: '#1d4e89' },
  brand: true,
  body: [
    { image: { value: 'logo | default: brand.logo', alt: 'Logo' } },
    { if: 'logo or brand.logo', then: [], else: [{ paragraph: { text: 'No logo', color: 'accent' } }] },
    { heading: { text: 'Dear {{ name }}', color: 'accent' } },
    { paragraph: '{{ brand.seller.name }}, {{ brand.seller.city | default: "nowhere" }}, {{ brand.bankDetails.iban }}.' }
  ]
}
const data = { name: 'Ada' }
const content = {
  accent: '#7a1f3d',
  font: 'serif',
  logo: point,
  seller: { name: 'Northwind' },
  bankDetails: { iban: 'IE29' }
} as const
const branded = withBrand({ digest: 'a', source: letter }, { digest: 'b', content })

await t.test('a template that takes a brand has its colours, font, logo and details; without one, its own and no hole', async (t) => {
  const plain = await renderHtml(letter, data)
  contains(t, plain.html, '#1d4e89')
  contains(t, plain.text, 'No logo')
  contains(t, plain.text, ', nowhere, .')
  const own = await renderHtml(branded.source, data)
  contains(t, own.html, '#7a1f3d')
  lacks(t, own.html, '#1d4e89')
  contains(t, own.html, /serif/)
  contains(t, own.text, 'Northwind, nowhere, IE29.')
  lacks(t, own.text, 'No logo')
  t.equal(own.inline.length, 1)
  t.equal((await renderPdf(branded.source, data)).pages, 1)
})

await t.test('what goes without pictures has no logo; the digest tells which it is', async (t) => {
  const plain = withBrand({ digest: 'a', source: letter }, { digest: 'b', content }, { logo: false })
  t.equal((await renderHtml(plain.source, data)).inline.length, 0)
  t.equal(new Set(['a', branded.digest, plain.digest]).size, 3)
  t.equal(JSON.stringify(withPlaceholderImages(branded.source)).includes(point), false)
})

await t.test('a template that takes none stays as it is, and "brand" is a field of its data', async (t) => {
  const { brand: _, ...source } = { ...letter, body: [{ paragraph: 'Of {{ brand }}' }] }
  t.equal(withBrand({ digest: 'a', source }, { digest: 'b', content }).source, source)
  contains(t, (await renderHtml(source, { brand: 'Tea' })).text, 'Of Tea')
})

await t.test('names that no brand has are told, with the nearest', (t) => {
  const faultsOf = (expression: string): string => {
    try {
      compileTemplate({ ...letter, body: [{ paragraph: `{{ ${expression} }}` }] })
      return ''
    } catch (error) {
      return error instanceof TemplateError ? error.faults.map(({ message }) => message).join() : String(error)
    }
  }
  has(t, [faultsOf('brand.logos'), faultsOf('brand.seller.nam'), faultsOf('brand.seller'), faultsOf('brand.seller.name')], [
    /"brand" has no "logos" \(did you mean "logo"/,
    /"brand.seller" has no "nam" \(did you mean "name"/,
    /"brand.seller" has no ""/,
    ''
  ])
  t.end()
})
