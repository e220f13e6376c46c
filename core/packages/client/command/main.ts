#!/usr/bin/env node
import { readFile } from 'node:fs/promises'
import { run } from './run.ts'

// Who reads may have enough: `dispatch list | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit()
})
process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  vocabulary: async () => ({
    'dispatch:invoice': JSON.parse(await readFile(new URL('./invoice.schema.json', import.meta.url), 'utf8')) as object
  })
})
