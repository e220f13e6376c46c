import { chromium } from 'playwright-core'
import t from 'tap'
import { languages } from '../../plugins/console/language/language.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { admin, invoiceRequest, startService } from '../support/service.ts'
import { chromiumPath, isAccessible } from './support/chromium.ts'
import { openConsole } from './support/console.ts'

const { en } = languages
const service = await startService(t)
const { send, url } = service
const { open, signIn } = openConsole(service)
// As root, Chromium starts without its sandbox only. It loads the pages of this test, and nothing else.
const browser = chromiumPath === undefined ? undefined : await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] })
t.teardown(() => browser?.close())
const acme = await service.company('acme', { credits: 100 })
const other = await service.company('other')
const [cookie, theirs] = [await signIn(acme.admin), await signIn(other.admin)]
const { body: invoice } = await send('POST', '/api/invoicing', { body: invoiceRequest() }, acme.admin)

/** Uploads a file, and answers its dispatch. */
async function upload (name: string, type: string, content: string): Promise<any> {
  const form = new FormData()
  form.append('file', new File([content], name, { type }))
  const authorization = `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}`
  return (await fetch(`${url}/api/upload`, { method: 'POST', body: form, headers: { authorization } })).json()
}

await t.test('a document is shown in a frame of the page of its dispatch, and in no other', async (t) => {
  const at = `/dispatches/${String(invoice.dispatchId)}`
  const page = await open(at, cookie)
  const source = `${at}/documents/${String(invoice.generatedDocument.id)}`
  contains(t, page.body, `<iframe src="/console${source}" title="${en.previewOf.replace('{name}', invoice.generatedDocument.filename)}"`)
  contains(t, page.headers.get('content-security-policy'), 'frame-src \'self\'')
  const { status, headers, body } = await open(source, cookie)
  t.equal(status, 200)
  has(t, Object.fromEntries(headers), {
    'content-type': 'application/pdf',
    'content-disposition': 'inline',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store'
  })
  t.ok(body.startsWith('%PDF-'))
  contains(t, headers.get('content-security-policy'), 'default-src \'none\'')
  contains(t, headers.get('content-security-policy'), 'frame-ancestors \'self\'')
  t.equal((await open(source, theirs)).status, 404, 'not to another company')
  const { dispatchId } = (await send('POST', '/api/invoicing', { body: invoiceRequest() }, acme.admin)).body
  t.equal((await open(`/dispatches/${String(dispatchId)}/documents/${String(invoice.generatedDocument.id)}`, cookie)).status, 404,
    'not as that of another dispatch')
  t.equal((await open(source, '')).status, 303)
  lacks(t, (await open('/dispatches', cookie)).headers.get('content-security-policy'), 'frame-src')
})

await t.test('what its author could make run is a text in a sandbox; what no browser shows is downloaded', async (t) => {
  const asDemo = await signIn(admin)
  const markup = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>'
  for (const [name, type, content] of [['page.xml', 'application/xml', markup], ['lines.csv', 'text/csv', '<b>1</b>;2'], ['a.txt',
    'text/plain', markup]] as const)
  {
    const { dispatchId, generatedDocument: { id } } = await upload(name, type, content)
    const { headers, body } = await open(`/dispatches/${String(dispatchId)}/documents/${String(id)}`, asDemo)
    t.equal(headers.get('content-type'), 'text/plain; charset=utf-8', name)
    t.equal(headers.get('content-security-policy')?.split('; ', 1)[0], 'sandbox', name)
    t.equal(body, content)
  }
  const { dispatchId, generatedDocument: { id } } = await upload('page.html', 'text/html', '<script>alert(1)</script>')
  const page = await open(`/dispatches/${String(dispatchId)}`, asDemo)
  lacks(t, page.body, '<iframe')
  contains(t, page.body, 'page.html</a>')
  lacks(t, page.headers.get('content-security-policy'), 'frame-src')
  t.equal((await open(`/dispatches/${String(dispatchId)}/documents/${String(id)}`, asDemo)).status, 404)
})

if (browser === undefined) t.pass('there is no Chromium on this machine', { skip: true })
else {
  for (const [locale, colorScheme, width] of [['en', 'light', 1280], ['fr', 'dark', 360]] as const) {
    await t.test(`the pages of dispatches are accessible (${locale}, ${colorScheme}, ${String(width)} pixels wide)`, async (t) => {
      const context = await browser.newContext({ baseURL: url, locale, colorScheme, viewport: { width, height: 800 } })
      const page = await context.newPage()
      const faults: string[] = []
      page.on('console', (message) => faults.push(message.text()))
      await page.goto('/console')
      await page.fill('#email', acme.admin.email)
      await page.fill('#password', acme.admin.password)
      await page.click('main button')
      for (const path of [`/console/dispatches/${String(invoice.dispatchId)}`]) {
        await page.goto(path)
        await isAccessible(t, page, path)
        t.ok(await page.evaluate<number>('document.documentElement.scrollWidth') <= width, `${path} fits`)
      }
      t.same(faults, [], 'no rule of the pages is broken')
      await context.close()
    })
  }
}
