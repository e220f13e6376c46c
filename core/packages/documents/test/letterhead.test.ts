import t from 'tap'
import { pagesOf, pdfOf } from './support.ts'

void t.test('what stands beside an address begins below a letterhead that reaches further down', async (t) => {
  const line = (text: string) => ({ paragraph: { text } })
  const letterhead = ['One.', 'Two.', 'Three.'].map(line)
  const [page = []] = await pagesOf(
    await pdfOf([...letterhead, { address: { window: 'din-5008-a', text: 'Ada', beside: [line('Beside.')] } }, line('After.')])
  )
  const y = (text: string) => page.find((found) => found.text === text)?.y ?? NaN
  t.ok(y('Beside.') > y('Three.'))
  t.ok(y('Ada') > y('Three.'))
  t.ok(y('After.') > y('Beside.') && y('After.') > y('Ada'))
})

void t.test('a sender too long for one line that can be read stands on two, above the address', async (t) => {
  const sender = 'Donaudampfschifffahrtsgesellschaft Niederösterreich mit beschränkter Haftung · Lange Straße 27 · 1010 Wien'
  const [page = []] = await pagesOf(await pdfOf([{ address: { window: 'din-5008-b', sender, text: 'Ada' } }]))
  const y = (text: string) => page.find((found) => found.text.startsWith(text))?.y ?? NaN
  t.ok(y('Donau') < y('Lange') || page.filter((found) => found.y < y('Ada')).length === 2)
  t.ok(page.every(({ right }) => right <= (25 + 80) * 72 / 25.4))
  t.ok(y('Donau') > 57.7 * 72 / 25.4, 'the sender stands inside of the window')
})
