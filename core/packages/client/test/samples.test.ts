import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { contains, has } from '../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../test/support/quick-renderer.ts'
import { startService } from '../../../../test/support/service.ts'
import { cut, html, json, refusal, serve } from './server.ts'

const file = (path: string): string => fileURLToPath(new URL(`../samples/${path}`, import.meta.url))
const samples = {
  python: ['python3', file('python/dispatch.py')],
  java: ['java', file('java/Dispatch.java')],
  php: ['php', file('php/dispatch.php')],
  // Mono's compiler is in Debian; .NET is not.
  'c#': ['mono', join(t.testdir(), 'Dispatch.exe')]
} as const
const isCompiled = spawnSync('mcs', ['-r:System.Net.Http', `-out:${samples['c#'][1]}`, file('csharp/Dispatch.cs')]).status === 0

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const { body: { key } } = await service.send('POST', '/api/v1/keys', { body: { name: 'Samples', mode: 'live' } })
const readme = readFileSync(fileURLToPath(new URL('../../../../README.md', import.meta.url)), 'utf8')
const [, invoice = ''] = /\/api\/invoicing -d '(\{[\s\S]*?\n\})'/.exec(readme) ?? []

type Ended = { code: number, output: string, errors: string }

function run ([command, ...first]: readonly string[], words: readonly string[], input: string, url = service.url): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(command ?? '', [...first, ...words], { env: { ...process.env, DISPATCH_URL: url, DISPATCH_KEY: key } },
      (error, output, errors) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, output, errors })
      })
    child.stdin?.end(input)
  })
}

for (const [language, command] of Object.entries(samples)) {
  // Which runtimes a machine has is its own matter.
  const isThere = language === 'c#' ? isCompiled : spawnSync(command[0], [language === 'java' ? '-version' : '--version']).status === 0
  const skip = !isThere && `${command[0]} is not installed`

  await t.test(`${language}: the first invoice of the README is sent once, and its callback verified`, { skip }, async (t) => {
    const request = invoice.replace('F-2026-001', `S-${language}`)
    const sent = await run(command, ['send', language], request)
    has(t, { ...sent, output: JSON.parse(sent.output || '{}') }, { code: 0, output: { success: true, status: 'succeeded' } })
    const again = await run(command, ['send', language], request)
    t.equal(JSON.parse(again.output).dispatchId, JSON.parse(sent.output).dispatchId)
    contains(t, (await run(command, ['send', `${language} other`], '{}')).errors, 'validation_error')
    const busy = await serve(t, refusal(503, 'service_unavailable', {}, { 'retry-after': '0' }),
      refusal(409, 'idempotency_in_progress', {}, { 'retry-after': '0' }), json(200, { dispatchId: 'd-1' }))
    const lossy = await serve(t, cut, html(200, { 'retry-after': '0' }), json(200, { dispatchId: 'd-1' }))
    for (const server of [busy, lossy]) {
      const once = await run(command, ['send', 'once'], invoice, server.url)
      t.equal(once.code, 0, once.errors)
      contains(t, once.output, 'd-1')
      t.strictSame(server.seen.map(({ method }) => method), Array(3).fill('POST'))
    }
    const page = await serve(t, html(200, { 'retry-after': '0' }))
    const never = await run(command, ['send', 'once'], invoice, page.url)
    t.not(never.code, 0)
    contains(t, never.errors, 'under the key once alone')
    const elsewhere = await serve(t, json(200, { dispatchId: 'd-2' }))
    const led = await serve(t, html(302, { location: elsewhere.url }))
    t.not((await run(command, ['send', 'once'], invoice, led.url)).code, 0)
    t.strictSame([led.seen.length, elsewhere.seen.length], [1, 0])

    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const body = JSON.stringify({ type: 'company.credits_low', data: { name: 'Ærø' } })
    const now = new Date()
    const words = ['verify', 'msg_1', String(Math.floor(now.getTime() / 1000)), new Webhook(secret).sign('msg_1', now, body), secret]
    t.equal((await run(command, words, body)).code, 0)
    has(t, await run(command, words, `${body} `), { code: 1, errors: /no callback of the service/ })
    t.equal((await run(command, words.with(2, '1700000000'), body)).code, 1)
  })
}
