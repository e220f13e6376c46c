/**
 * Makes the pictures of the console that README.md, DESIGN.md and the guides show, in English and French, with Chromium, of a running
 * service of development whose company "Demo" is new: `node scripts/console-pictures.ts http://127.0.0.1:3000`. It sends samples through
 * the simulator first, which takes a minute.
 */
import { demo } from '@dispatch/core'
import { mkdir, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BrowserContext, chromium, type Page } from 'playwright-core'

const folder = new URL('../plugins/console/pictures/', import.meta.url)
const [url = 'http://127.0.0.1:3000', executablePath = '/usr/bin/chromium'] = process.argv.slice(2)
const { email, password } = demo.admin
const authorization = `Basic ${Buffer.from(`${email}:${password}`).toString('base64')}`

async function send (path: string, body: object | string, contentType = 'application/json'): Promise<unknown> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { authorization, 'content-type': contentType, 'x-api-version': '1.1.0' },
    body: typeof body === 'string' ? body : JSON.stringify(body)
  })
  // Some samples are to fail.
  return await answer.json()
}

async function read<Body> (path: string): Promise<Body> {
  const answer = await fetch(url + path, { headers: { authorization, 'x-api-version': '1.1.0' } })
  return await answer.json() as Body
}

const people = [
  { name: 'Ada Lovelace', address: '1 rue de Rivoli', city: 'Paris', postalCode: '75001', country: 'FR' },
  { name: 'Grace Hopper', address: '12 Harbour Street', city: 'Dublin', postalCode: 'D02 XY45', country: 'IE' },
  { name: 'Müller & Söhne GmbH', address: 'Lange Straße 27', city: 'Berlin', postalCode: '10115', country: 'DE' },
  { name: 'Katherine Johnson', address: '8 quai du Port', city: 'Marseille', postalCode: '13002', country: 'FR' }
] as const

/** Answers the id of a batch. */
async function sendSamples (): Promise<string> {
  const sample = async (id: number): Promise<object> => (await read<{ sample: object }>(`/api/v1/templates/${id}`)).sample
  const [invoice, letter, mail] = [await sample(1), await sample(30), await sample(10)]
  for (const [index, person] of people.entries()) {
    const data = { ...invoice, number: `2026-${String(index + 138).padStart(4, '0')}`, customer: person }
    await send('/api/invoicing', { documentType: 'INVOICE', template: { id: 1, data } })
    await send('/api/postal', { template: { id: 30, data: letter }, postal: { recipient: person } })
    await send('/api/email', {
      template: { id: 10, data: mail },
      email: { from: email, to: [`${person.name.split(' ')[0]?.toLowerCase()}@customer.example`], subject: 'Your invoice' }
    })
    await send('/api/v1/contacts', { name: person.name, address: person.address, city: person.city, country: person.country })
  }
  for (const phoneNumber of ['+33612345678', '+33687654321', '+15005550001', '+15005550003']) {
    await send('/api/sms', { sms: { phoneNumber, message: 'Your parcel is at the door.' } })
  }
  const rows = ['+33612345670', '+33612345671', '06', '+33612345673'].map((phoneNumber, index) =>
    JSON.stringify({ id: `parcel-${String(index + 1)}`, sms: { phoneNumber, message: 'Your parcel is at the door.' } })
  )
  const { batchId } = await send('/api/v1/batches?service=sms&mode=valid', `${rows.join('\n')}\n`, 'application/x-ndjson') as {
    batchId: string
  }
  // What was sent is counted every minute.
  await sleep(65_000)
  return batchId
}

/** What is done on a page before it is taken. */
const acts: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  async send (page) {
    await page.click('button[formaction$="/send/validate"]:visible')
    await page.locator('main .notice.good').waitFor()
    await page.click('button[formaction$="/send/preview"]')
    await page.locator('main iframe:not([hidden])').contentFrame().locator('body', { hasText: /\w/ }).waitFor()
  },
  async search (page) {
    await page.keyboard.press('/')
    await page.keyboard.type('ada')
    await page.locator('dialog.palette .found a', { hasText: 'Ada' }).first().waitFor()
  },
  async blocks (page) {
    await page.locator('.opener', { hasText: 'Invoice {{ number }}' }).first().click()
    await page.locator('.block.open').waitFor()
    await page.locator('.live iframe:not(.waiting)').contentFrame().locator('body', { hasText: /\w/ }).waitFor()
  }
}

async function take (context: BrowserContext, place: URL, [name, path]: readonly [string, string]): Promise<void> {
  const page = await context.newPage()
  await page.goto(`${url}/console${path}`)
  await acts[name]?.(page)
  await writeFile(new URL(`${name}.png`, place), await page.screenshot())
  await page.close()
}

const batchId = await sendSamples()
const { data: [failed] } = await read<{ data: { dispatchId: string }[] }>('/api/v1/dispatches?status=failed&limit=1')
const pictures = {
  home: '',
  dispatches: '/dispatches',
  dispatch: `/dispatches/${failed?.dispatchId ?? ''}`,
  send: '/send?template=10',
  batch: `/batches/${batchId}`,
  blocks: '/templates/new/blocks?from=10',
  providers: '/providers',
  provider: '/providers/smtp',
  usage: '/usage',
  search: ''
}
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
for (const [locale, place] of [['en', folder], ['fr', new URL('fr/', folder)]] as const) {
  await mkdir(place, { recursive: true })
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, locale })
  const page = await context.newPage()
  await page.goto(`${url}/console`)
  await page.fill('[name=email]', email)
  await page.fill('[name=password]', password)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/console')
  for (const picture of Object.entries(pictures)) await take(context, place, picture)
  await context.close()
}
await browser.close()
