/**
 * Makes the pictures of the console that README.md and DESIGN.md show, with Chromium, of a running service of development whose company
 * "Demo" is new: `node scripts/console-pictures.ts http://127.0.0.1:3000`. It sends samples through the simulator first.
 */
import { demo } from '@dispatch/core'
import { mkdir, writeFile } from 'node:fs/promises'
import { type BrowserContext, chromium } from 'playwright-core'

const folder = new URL('../plugins/console/pictures/', import.meta.url)
const [url = 'http://127.0.0.1:3000', executablePath = '/usr/bin/chromium'] = process.argv.slice(2)
const { email, password } = demo.admin
const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`

async function send (path: string, body: object): Promise<void> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  // Some samples are to fail.
  await answer.arrayBuffer()
}

async function sendSamples (): Promise<void> {
  const sample = async (id: number): Promise<object> => {
    const answer = await fetch(`${url}/api/v1/templates/${id}`, { headers: { authorization } })
    return ((await answer.json()) as { sample: object }).sample
  }
  const [invoice, letter] = [await sample(1), await sample(30)]
  const postal = { recipient: { name: 'Ada Lovelace', address: '1 rue de Rivoli', city: 'Paris', postalCode: '75001', country: 'FR' } }
  for (let number = 1; number <= 9; number++) {
    const data = { ...invoice, number: `2026-${String(number).padStart(4, '0')}` }
    await send('/api/invoicing', { documentType: 'INVOICE', template: { id: 1, data } })
  }
  for (let number = 1; number <= 4; number++) await send('/api/postal', { template: { id: 30, data: letter }, postal })
  const [ada, grace] = [{ name: 'Ada Lovelace', city: 'Paris', country: 'FR' }, { name: 'Grace Hopper', city: 'Arlington', country: 'US' }]
  for (const contact of [ada, grace]) await send('/api/v1/contacts', contact)
  for (const phoneNumber of ['+33612345678', '+33612345679', '+15005550001', '+15005550003']) {
    await send('/api/sms', { sms: { phoneNumber, message: 'Your parcel is at the door.' } })
  }
}

async function take (context: BrowserContext, name: string, path: string): Promise<void> {
  const page = await context.newPage()
  await page.goto(`${url}/console${path}`)
  await writeFile(new URL(`${name}.png`, folder), await page.screenshot())
  await page.close()
}

await sendSamples()
await mkdir(folder, { recursive: true })
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
const context = await browser.newContext({ viewport: { width: 1200, height: 920 } })
const page = await context.newPage()
await page.goto(`${url}/console`)
await page.fill('[name=email]', email)
await page.fill('[name=password]', password)
await page.keyboard.press('Enter')
await page.waitForURL('**/console')
const failed = await fetch(`${url}/api/v1/dispatches?status=failed&limit=1`, { headers: { authorization } })
const { data: [dispatch] } = (await failed.json()) as { data: { dispatchId: string }[] }
const pictures = {
  home: '',
  dispatches: '/dispatches',
  dispatch: `/dispatches/${dispatch?.dispatchId ?? ''}`,
  send: '/send?template=1',
  contacts: '/contacts',
  template: '/templates/1',
  providers: '/providers',
  provider: '/providers/simulator',
  audit: '/audit',
  search: '/find?q=ada'
}
for (const [name, path] of Object.entries(pictures)) await take(context, name, path)
await browser.close()
