import t from 'tap'
import { pagesOf, pdfOf } from './support.ts'

void t.test('what stands beside an address begins below a letterhead that reaches further down', async (t) => {
  const line = (text: string) => ({ paragraph: { text } })
  const letterhead = ['One.', 'Two.', 'Three.'].map(line)
  const [page = []] = await pagesOf(await pdfOf([...letterhead, { address: { window: 'din-5008-a', text: 'Ada', beside: [line('Beside.')] } }, line('After.')]))
  const y = (text: string) => page.find((found) => found.text === text)?.y ?? NaN
  t.ok(y('Beside.') > y('Three.'))
  t.ok(y('Ada') > y('Three.'))
  t.ok(y('After.') > y('Beside.') && y('After.') > y('Ada'))
})
