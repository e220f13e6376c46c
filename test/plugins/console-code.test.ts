import { execFile, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { csharpOf, curlOf, javaOf, phpOf, pythonOf, readsFile, requestFile, typescriptOf } from '../../plugins/console/pages/send-code.ts'
import { lacks } from '../support/matching.ts'
import { startService } from '../support/service.ts'
import { letter } from './support/templates.ts'

const run = promisify(execFile)
const service = await startService(t)
const { send } = service
const { body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'Code', mode: 'live' } })
const schema = { type: 'object', additionalProperties: true, required: ['name'], properties: { name: { type: 'string' } } }
const { body: { id } } = await send('POST', '/api/v1/templates', { body: letter({ schema, sample: { name: 'Ada' } }) })
await send('POST', `/api/v1/templates/${String(id)}/publish`, { body: { version: 1 } })

/** Ends quotes, names variables, and breaks lines where a language has such. */
const hostile = 'it\'s "$(id)" `id` ${process.exit(1)} $DISPATCH_API_KEY \\ \\n {x!r} \u2028true é 😀 */ """ \'\'\' </script>'
const data = { name: hostile, flags: [true, false, null], sums: [1, -2.5, 1e21], nothing: {}, none: [], lines: [{ text: 'true' }] }
const short = { url: `${service.url}/api/file`, body: { template: { id, data }, metadata: { 'a\'b"c': hostile } } }
const long = { ...short, body: { ...short.body, metadata: { note: 'long' }, template: { id, data: { ...data, name: 'A'.repeat(5000) } } } }

const languages = [
  { name: 'curl', code: curlOf, file: 'send.sh', command: ['sh', 'send.sh'] },
  { name: 'TypeScript', code: typescriptOf, file: 'send.ts', command: [process.execPath, 'send.ts'] },
  { name: 'Python', code: pythonOf, file: 'send.py', command: ['python3', 'send.py'] },
  { name: 'PHP', code: phpOf, file: 'send.php', command: ['php', 'send.php'] },
  { name: 'Java', code: javaOf, file: 'Send.java', command: ['java', 'Send.java'] },
  { name: 'C#', code: csharpOf, file: 'Send.cs', command: ['sh', '-c', 'mcs -r:System.Net.Http Send.cs && mono Send.exe'] }
] as const

for (const { name, code, file, command: [program, ...given] } of languages) {
  const needed = name === 'curl' ? 'curl' : name === 'C#' ? 'mcs' : program
  const skip = spawnSync(needed, ['--version']).status !== 0 && `there is no ${needed}`
  await t.test(`the code in ${name} sends the request, with the key of the environment`, { skip }, async (t) => {
    const cwd = t.testdir({})
    const env = { ...process.env, DISPATCH_API_KEY: String(key) }
    for (const request of [short, long]) {
      t.equal(readsFile(request), request === long)
      const text = code(request)
      lacks(t, text, String(key))
      writeFileSync(join(cwd, file), text)
      writeFileSync(join(cwd, requestFile), JSON.stringify(request.body))
      const { stdout } = await run(program, given, { cwd, env })
      const [, dispatchId] = /dispatchId['"]?: ?['"]([^'"]+)/.exec(stdout) ?? []
      const { body } = await send('GET', `/api/v1/dispatches/${String(dispatchId)}`)
      t.same(body.metadata, request.body.metadata)
      t.same(body.steps.map(({ status }: { status: string }) => status), ['accepted'])
    }
    if (name === 'curl') return
    const refused = run(program, given, { cwd, env: { ...env, DISPATCH_API_KEY: 'wrong' } })
    await t.rejects(refused, { message: /unauthorized/ }, 'a refused request is no success, and says why')
  })
}
