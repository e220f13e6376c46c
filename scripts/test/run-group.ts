/**
 * Runs the test files that DISPATCH_TEST_FILES names, one a line, one after the other in this process: they share the modules that they
 * load, which take longer than most tests do. What a file imports as `tap` is a test of its own, with its own teardowns and time limit.
 */
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { ownTests } from './own-test.ts'
import { secondsFor } from './time-limit.ts'

/** tap, but for the root test. */
const sourceFor = (file: string): string => `
  import { ownTests } from '${import.meta.resolve('./own-test.ts')}'
  export * from '${import.meta.resolve('tap')}'
  export default ownTests.get('${file}')`

registerHooks({
  resolve (specifier, context, next) {
    const file = context.parentURL ?? ''
    if (specifier !== 'tap' || !ownTests.has(file)) return next(specifier, context)
    return { url: `data:text/javascript,${encodeURIComponent(sourceFor(file))}`, format: 'module', shortCircuit: true }
  }
})

t.setTimeout(0)
// tap names folders after the arguments of its process, so the files come otherwise.
for (const file of process.env['DISPATCH_TEST_FILES']?.split('\n') ?? []) {
  await t.test(file, { timeout: secondsFor(file) * 1000, at: null, stack: '' }, async (own) => {
    const { href } = pathToFileURL(resolve(file))
    ownTests.set(href, own)
    own.teardown(() => {
      if (own.counts.total === 0) t.fail(`${file} has no test`)
    })
    await import(href)
  })
}
