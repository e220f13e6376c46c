import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { createVendor, vendorNetwork } from '../../core/packages/conformance/vendor/vendor.ts'
import { until } from '../core/work/support.ts'
import { startService } from '../support/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = globSync(['core/packages/features/documentation/guides/*/*.md', 'core/packages/services/*/README.md',
  'plugins/guides/admin*.md'], {
  cwd: root
}).sort()

const receiver = await createVendor()
receiver.answer({ status: 200 })
const service = await startService(t, { replacements: { network: vendorNetwork(receiver) } })
t.teardown(receiver.close)
const folder = mkdtempSync(join(tmpdir(), 'dispatch-guides-'))
t.teardown(() => rmSync(folder, { recursive: true }))

/** Runs the commands of a block, each a `curl`, and answers what the last one printed. */
async function run (commands: string, id: string): Promise<unknown> {
  let printed = ''
  for (const command of commands.split(/^(?=curl)/m)) {
    const env = { ...process.env, ID: id }
    printed =
      (await promisify(execFile)('sh', ['-c', command.replaceAll('http://127.0.0.1:3000', service.url)], { cwd: folder, env })).stdout
  }
  return JSON.parse(printed)
}

/**
 * Where a value is not what a page shows, as places with both. A page leaves members out; `…` stands for anything, in a text for any part
 * of it, and in a list for whatever follows.
 */
function differences (shown: unknown, real: unknown, at = ''): string[] {
  const differs = [`${at}: ${JSON.stringify(shown)} is ${JSON.stringify(real ?? null).slice(0, 300)}`]
  if (shown === '…') return real === undefined ? differs : []
  if (typeof shown === 'string' && shown.includes('…')) {
    const [begin = '', end = ''] = shown.split('…')
    return typeof real === 'string' && real.startsWith(begin) && real.endsWith(end) ? [] : differs
  }
  if (Array.isArray(shown)) {
    if (!Array.isArray(real)) return differs
    const isOpen = shown.at(-1) === '…'
    const listed = isOpen ? shown.slice(0, -1) : shown
    if (isOpen ? real.length < listed.length : real.length !== listed.length) return differs
    return listed.flatMap((one, index) => differences(one, real[index], `${at}/${index}`))
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof real !== 'object' || real === null) return differs
    return Object.entries(shown).flatMap(([name, one]) => differences(one, (real as Record<string, unknown>)[name], `${at}/${name}`))
  }
  return shown === real ? [] : differs
}

for (const page of pages) {
  await t.test(`what ${page} shows is what happens`, async (t) => {
    let answer: any
    let id = ''
    for (const [, info = '', text = ''] of readFileSync(join(root, page), 'utf8').matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)) {
      const [, file] = /file=(\S+)/.exec(info) ?? []
      if (file !== undefined) writeFileSync(join(folder, file), text)
      if (info === 'sh run') {
        answer = await run(text, id)
        id = answer.dispatchId ?? id
      }
      if (info === 'json answer') t.same(differences(JSON.parse(text), answer), [], JSON.stringify(answer))
      if (info === 'json callback') {
        const shown = JSON.parse(text)
        const callbacks = (): any[] =>
          receiver.requests.map(({ body }) => JSON.parse(body.toString())).filter(({ data }) => data?.dispatchId === id)
        await until('the callback came', () => callbacks().some(({ type }) => type === shown.type))
        t.same(differences(shown, callbacks().find(({ type }) => type === shown.type)), [], shown.type)
      }
    }
    t.ok(page.includes('write-a-provider') || answer !== undefined, 'it has a sample')
  })
}

type Node = { name: string, type: string, parameters: any }
type Workflow = { nodes: readonly Node[], connections: Readonly<Record<string, { main: [[{ node: string }]] }>> }

await t.test('the workflow for n8n makes requests that end as its guide says, and sends once', async (t) => {
  const guide = readFileSync(join(root, 'core/packages/features/documentation/guides/how/80-n8n.md'), 'utf8')
  const block = (info: string): any => JSON.parse(new RegExp(`^\`\`\`json ${info}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(guide)?.[1] ?? '')
  const { nodes, connections } = block('workflow') as Workflow
  const { body: { key } } = await service.send('POST', '/api/v1/keys', {
    body: { name: 'n8n', mode: 'test', scopes: ['send', 'read_own'] }
  })
  /** As n8n does: an expression sees what the node before has answered. */
  const valueOf = (text: string, $json: unknown): string => {
    const [, expression] = /^=\{\{([\s\S]*)\}\}$/.exec(text) ?? []
    return expression === undefined ? text : String(runInNewContext(expression, { $json }))
  }
  const request = async ({ method, url, headerParameters, jsonBody }: any, item: unknown): Promise<unknown> => {
    const headers = headerParameters.parameters.map(({ name, value }: { name: string, value: string }) => [name, valueOf(value, item)])
    const answer = await fetch(valueOf(url, item).replace('https://dispatch.example.com', service.url), {
      method,
      headers: [...headers, ['authorization', `Bearer ${key}`], ['content-type', 'application/json']],
      ...jsonBody === undefined ? {} : { body: valueOf(jsonBody, item) }
    })
    return answer.json()
  }
  const follow = async (name: string, item: unknown): Promise<unknown> => {
    const { type, parameters } = nodes.find((node) => node.name === name)!
    const made = type.endsWith('.set')
      ? JSON.parse(parameters.jsonOutput)
      : type.endsWith('.httpRequest')
      ? await request(parameters, item)
      : item
    const next = connections[name]?.main[0][0].node
    return next === undefined ? made : follow(next, made)
  }
  const first = await follow('Start', {}) as { dispatchId: string }
  t.same(differences(block('outcome'), first), [])
  t.equal((await follow('Start', {}) as { dispatchId: string }).dispatchId, first.dispatchId, 'a second run sends nothing')
})
