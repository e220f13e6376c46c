/** Loaded before a test file: from then on tap takes domains.ts in the place of hooks. */
import { registerHooks } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const domains = { url: import.meta.resolve('./domains.ts'), format: 'module-typescript', shortCircuit: true }

// Threads have the options of their process, and no tap.
if (isMainThread) {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'async-hook-domain' || (specifier === 'async_hooks' && context.parentURL?.includes('/@tapjs/core/') === true) ?
        domains :
        next(specifier, context)
  })
}
