import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { has } from '../support/matching.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs the audit against a registry that knows these weaknesses (by package), or (null) cannot say. */
async function audit (
  t: Test,
  known: Record<string, { severity: string, title: string }> | null
): Promise<{ code: number | null, stdout: string, stderr: string }> {
  const server = createServer((request, response) => {
    const advisories = Object.entries(known ?? {}).map((
      [name, advisory],
      id
    ) => [name, [{ ...advisory, id, url: 'https://advisories.example', vulnerable_versions: '*', cwe: [], cvss: { score: 0 } }]])
    const answers = request.method === 'POST' && known !== null
    response.writeHead(answers ? 200 : 404, { 'content-type': 'application/json' }).end(
      answers ? JSON.stringify(Object.fromEntries(advisories)) : '{}'
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const env = { ...process.env, npm_config_registry: `http://127.0.0.1:${port}/`, npm_config_cache: t.testdir() }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ['scripts/audit.ts'], { cwd: root, env }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode, stdout, stderr })
    })
  })
}

await t.test('dependencies without known weaknesses pass, and so do lesser ones', async (t) => {
  has(t, await audit(t, {}), { code: 0, stdout: '0 high or critical weaknesses among the dependencies, 0 lesser ones\n', stderr: '' })
  has(t, await audit(t, { fastify: { severity: 'moderate', title: 'Slow' } }), {
    code: 0,
    stdout: /^0 high or critical weaknesses among the dependencies, [1-9]\d* lesser ones\n$/,
    stderr: ''
  })
})

await t.test('a high or critical weakness fails, by name', async (t) => {
  for (const severity of ['high', 'critical']) {
    has(t, await audit(t, { fastify: { severity, title: 'Lets anybody in' } }), {
      code: 1,
      stdout: /^[1-9]\d* high or critical/,
      stderr: new RegExp(`^fastify: ${severity} \\(Lets anybody in\\)$`, 'm')
    })
  }
})

await t.test('what is needed for development alone does not count', async (t) => {
  has(t, await audit(t, { autocannon: { severity: 'critical', title: 'Lets anybody in' } }), { code: 0, stderr: '' })
})

await t.test('where the registry cannot say, nothing was checked, and that is no success', async (t) => {
  has(t, await audit(t, null), { code: 3, stdout: '', stderr: /^Not checked: the registry tells no weaknesses of packages( \(.*\))?\.\n$/ })
})
