/**
 * The process of `in-child.ts`: it is sent a folder and the options, and answers each step of the kit, signs of life, and at last the
 * report.
 */
import { Worker } from 'node:worker_threads'
import { beatEvery } from './beats.ts'
import { runConformance } from './conformance.ts'
import type { FromChild, ToChild } from './in-child.ts'

const tell = (message: FromChild): void => void process.send?.(message)

tell({})
new Worker(new URL('pulse.ts', import.meta.url)).unref()
const { folder, options } = await new Promise<ToChild>((resolve) => process.once('message', (message) => resolve(message as ToChild)))
setInterval(() => tell({}), beatEvery)
process.once('disconnect', () => process.exit())
tell({ report: await runConformance(folder, { ...options, onStep: (step) => tell({ step }) }) })
