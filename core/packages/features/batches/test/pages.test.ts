import t from 'tap'
import { until } from '../../../../../test/core/work/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, startService } from '../../../../../test/support/service.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const { send, url } = service
const { open, post, signIn } = openConsole(service)
const cookie = await signIn()
const form = async (
  path: string,
  fields: Record<string, string | readonly string[]>,
  file?: [name: string, text: string]
): Promise<Answer> => {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) body.append(name, one)
  if (file !== undefined) body.append('file', new Blob([file[1]]), file[0])
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const response = await fetch(`${url}/console${path}`, { method: 'POST', redirect: 'manual', body, headers })
  return { status: response.status, headers: response.headers, body: await response.text() }
}
/** What the form on a page would send of its hidden fields. */
const hiddenIn = (page: string): Record<string, string> =>
  Object.fromEntries(
    [...page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(([, name = '', value = '']) => [name, value])
  )
const file = 'phoneNumber;Text;Note\n+33612345678;"Hello; ""Ada""\nthere";x\nnone;Bye;y\n+33612345679;Third;z\n'
const statusOf = async (path: string) => (await send('GET', path.replace(/^\/console(?:\/test)?/, '/api/v1'))).body

await t.test('a file is read, its columns are mapped, its rows are checked, and sent when somebody says so', async (t) => {
  contains(t, (await open('/batches', cookie)).body, 'enctype="multipart/form-data"')
  const read = await form('/batches/new', { service: 'sms', template: '' }, ['people.csv', file])
  has(t, read, { status: 200 })
  const page = read.body as string
  contains(t, page, '<input name="place" value="/sms/phoneNumber"', 'a place is proposed by the name of the column')
  for (const text of ['Hello; &quot;Ada&quot;', '<option value="/sms/message">', 'people.csv']) contains(t, page, text)
  const place = ['/sms/phoneNumber', '/sms/message', '']
  const fields = { ...hiddenIn(page), common: '', place, type: ['text', 'text', 'text'] }
  const taken = await form('/batches', fields)
  t.equal(taken.status, 303)
  const at = taken.headers.get('location') ?? ''
  t.equal((await form('/batches', fields)).headers.get('location'), at, 'pressed twice it is one batch')
  let batch: any
  await until('all rows are checked', async () => (batch = await statusOf(at)).status !== 'checking')
  has(t, batch, { status: 'paused', counts: { waiting: 2, refused: 1 } })
  const checked = (await open(at.slice('/console'.length), cookie)).body
  for (const text of ['1 of 3 have faults', 'Send 2 rows', '<progress id="progress" max="3" value="1">', 'data-changes']) {
    contains(t, checked, text)
  }
  contains(t, checked, /<th scope="row">2<\/th><td>.*<em>SMS › Phone number<\/em>/, 'the fault of the second row')
  t.equal((await send('GET', '/api/v1/dispatches')).body.data.length, 0, 'nothing is sent yet')
  t.equal((await post(`${at.slice('/console'.length)}/resume`, {}, cookie)).status, 303)
  await until('it has ended', async () => (await statusOf(at)).status === 'finished')
  const ended = (await open(at.slice('/console'.length), cookie, { 'accept-language': 'fr' })).body
  for (const text of ['3 lignes sur 3 sont terminées', 'results.csv?status=refused']) contains(t, ended, text)
  lacks(t, ended, 'data-changes')
  const csv = await open(`${at.slice('/console'.length)}/results.csv?status=refused`, cookie)
  contains(t, csv.body, /^row,id,status,dispatchId,error,message,reason\r\n2,,refused,/)
  has(t, await post(`${at.slice('/console'.length)}/pause`, {}, cookie), { status: 409, body: /which does not allow this/ })
})

await t.test('what the API refuses is told above the form, which keeps what was chosen', async (t) => {
  const page = (await form('/batches/new', { service: 'sms', template: '1' }, ['people.csv', file])).body as string
  const fields = { ...hiddenIn(page), common: '{"sms":', place: ['/sms', '/sms/message', ''], type: ['json', 'text', 'text'] }
  const refused = await form('/batches', fields)
  has(t, refused, { status: 400, body: /It is not JSON/ })
  for (const text of ['{&quot;sms&quot;:', 'value="/sms"', '<option value="json" selected>']) contains(t, refused.body, text)
  const other = await form('/batches', { ...fields, common: '' })
  has(t, other, { status: 400, body: /one inside the other/ })
  t.equal((await form('/batches/new', { service: 'sms', template: '' }, ['empty.csv', ''])).status, 422)
  const large = await form('/batches/new', { service: 'sms', template: '' }, ['large.csv', 'x'.repeat(9 * 1024 * 1024)])
  has(t, large, { status: 413, body: /8 MiB/ })
})

await t.test('NDJSON has no columns, and a template says what its data are called', async (t) => {
  const lines = `${JSON.stringify({ sms: { phoneNumber: '+33612345678', message: 'x' } })}\n`
  const plain = (await form('/batches/new', { service: 'sms', template: '' }, ['rows.ndjson', lines])).body as string
  lacks(t, plain, 'name="place"')
  const taken = await form('/test/batches', { ...hiddenIn(plain), common: '' })
  t.equal(taken.status, 303)
  has(t, await statusOf(taken.headers.get('location') ?? ''), { test: true, service: 'sms' })
  const invoices =
    (await form('/batches/new', { service: 'invoicing/email', template: '1' }, ['i.csv', 'id,total,quantity,/metadata/po\n1,2,3,4\n'])).body
  for (const text of ['value="/id"', 'value="/template/data/total"', 'value="/metadata/po"', '&quot;id&quot;: 1']) {
    contains(t, invoices, text)
  }
  contains(t, invoices, /lines\/0\/quantity".*?<option value="number" selected>/s)
})
