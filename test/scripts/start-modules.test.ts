import { spawnSync } from 'node:child_process'
import t from 'tap'
import { root } from '../e2e/support/process.ts'

/** Prints the paths below node_modules of all that the service imports before it starts. */
const program = `
  import { registerHooks } from 'node:module'
  const loaded = new Set()
  registerHooks({ load: (url, context, next) => (loaded.add(url.replace(/.*\\/node_modules\\//, '')), next(url, context)) })
  await import('./scripts/service.ts')
  console.log(JSON.stringify([...loaded]))
  process.exit()`

/** What takes many modules and is needed only now and then. */
const later = ['undici/', 'nodemailer/', 'libphonenumber-js/', 'prom-client/', 'pino-pretty/', 'file-type/', 'diff/',
  'typebox/build/value/', 'validator/index.js', 'fontkit/', 'pdfkit/']

await t.test('what not every process needs is loaded when it is first needed', (t) => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: root, encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  const loaded = JSON.parse(stdout) as string[]
  t.ok(loaded.some((path) => path.startsWith('fastify/')))
  t.same(later.filter((start) => loaded.some((path) => path.startsWith(start))), [])
  t.end()
})
