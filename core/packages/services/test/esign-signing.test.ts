import t from 'tap'
import { shareOfPage, signingOf } from '../esign/signing.ts'

const signer = (firstName: string, order?: number) => ({
  firstName,
  lastName: 'Lovelace',
  email: `${firstName}@example.com`,
  ...(order !== undefined && { order })
})
const requested = (signers: ReturnType<typeof signer>[], signatures: Parameters<typeof signingOf>[0]['signatures'] = []) => ({
  esign: { signers, signatureType: 'SIMPLE' as const, expiresInDays: 30 },
  signatures
})

await t.test('signers come in their order, each with its turn and its own places', (t) => {
  const place = { signer: 1, page: 2, x: 10, y: 20, width: 100, height: 40 }
  const other = { ...place, page: 3 }
  const signing = signingOf(requested([signer('ada', 7), signer('grace', 2), signer('joan', 7)], [place, other]))
  t.strictSame(signing.map(({ signer: { firstName }, turn }) => [firstName, turn]), [['grace', 1], ['ada', 2], ['joan', 2]])
  t.strictSame(signing[1]?.places, [place, other])
  t.strictSame(signingOf(requested([signer('ada'), signer('grace')])).map(({ turn }) => turn), [1, 1], 'without an order all sign together')
  t.end()
})

await t.test('whoever has no place signs at the foot of the first page, and nobody over another one', (t) => {
  const places = signingOf(requested(Array.from({ length: 20 }, (_, index) => signer(`s${index}`)))).flatMap(({ places }) => places)
  t.equal(new Set(places.map(({ x, y }) => `${x} ${y}`)).size, 20)
  for (const [index, { signer, page, x, y, width, height }] of places.entries()) {
    t.strictSame([signer, page], [index + 1, 1])
    t.ok(x + width <= 595 && y + height <= 792 && y > 500)
  }
  t.end()
})

await t.test('a place is told as a share of the page', (t) => {
  const place = { signer: 1, page: 1, x: 59.528, y: 84.189, width: 297.64, height: 42.0945 }
  t.strictSame(shareOfPage(place, 'A4'), { x: 0.1, y: 0.1, width: 0.5, height: 0.05 })
  t.strictSame(shareOfPage(place, 'A4', 100), { x: 10, y: 10, width: 50, height: 5 })
  t.strictSame(shareOfPage({ ...place, x: 306, y: 396 }, 'Letter', 100), { x: 50, y: 50, width: 48.63, height: 5.31 })
  const large = { ...place, x: 1000, y: 1500, width: 200, height: 60, pageSize: { width: 2000, height: 3000 } }
  t.strictSame(shareOfPage(large, 'A4', 100), { x: 50, y: 50, width: 10, height: 2 }, 'of that page, whatever the paper')
  t.end()
})
