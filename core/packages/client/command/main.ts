#!/usr/bin/env node
import { readFile } from 'node:fs/promises'
import { run } from './run.ts'

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  input: process.stdin,
  output: process.stdout,
  errors: process.stderr,
  vocabulary: async () => ({
    'dispatch:invoice': JSON.parse(await readFile(new URL('./invoice.schema.json', import.meta.url), 'utf8')) as object
  })
})
