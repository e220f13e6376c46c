/**
 * The end-to-end tests that dispatch through providers, once more with every provider in processes of its own: clients of the API, new
 * folders and reloads, secrets in the log, and a reload over several processes.
 */
process.env['DISPATCH_SANDBOX'] = 'all'

for (const name of ['clients', 'new-provider', 'logs', 'convergence']) await import(`../e2e/${name}.test.ts`)
