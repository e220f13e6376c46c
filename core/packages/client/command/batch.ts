import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Progress, Upload } from '../upload.ts'
import { openBar, type Terminal } from './bar.ts'

type Counts = Readonly<Record<string, number>> & { total: number }
export type Batch = { batchId: string, status: string, counts: Counts, problem?: { error?: string, message: string } }
type Row = { row: number, id?: string, status: string, dispatchId?: string, problem?: { message: string } }

/** The operations of the API that a run uses. */
export type BatchApi = {
  take: (upload: Upload, options: object) => Promise<Batch>
  read: (id: string) => Promise<Batch>
  results: (id: string, options: object) => Promise<Response>
}

/** What is sent: the file, and those of the body that all rows have in common and of the columns. */
export type BatchFiles = { file: string, common?: string, mapping?: string }

type Reported = { print: (line: string) => void, terminal: Terminal, wait?: (milliseconds: number) => Promise<unknown> }

/** States in which nothing more happens by itself. */
const ends: ReadonlySet<string> = new Set(['finished', 'cancelled', 'refused', 'paused'])

/** Sends a batch and follows it to its end. Answers it, with the rows of which no dispatch succeeded. */
export async function runBatch (api: BatchApi, files: BatchFiles, options: object, { terminal, wait = pause }: Omit<Reported, 'print'>) {
  const { size } = await stat(files.file)
  const upload = await uploadOf(files)
  using bar = openBar(terminal)
  const onProgress: Progress = ({ sent }) => {
    bar.show('sent', Math.min(sent, size), size)
  }
  let batch = await api.take(upload, { ...options, onProgress })
  for (; !ends.has(batch.status); batch = await api.read(batch.batchId)) {
    const { total } = batch.counts
    bar.show(batch.status, total - under(batch), total)
    await wait(1_000)
  }
  const { failed = 0, refused = 0 } = batch.counts
  const of = async (status: string): Promise<Row[]> => rowsIn(await api.results(batch.batchId, { status }))
  const rows = [...refused > 0 ? await of('refused') : [], ...failed > 0 ? await of('failed') : []]
  return { batch, rows: rows.sort((one, other) => one.row - other.row) }
}

/** What became of it in words: a line for all, and one for each row that did not go. */
export function wordsOf ({ batch: { batchId, status, counts, problem }, rows }: Awaited<ReturnType<typeof runBatch>>): string {
  const { total, ...states } = counts
  const reported = Object.entries(states).filter(([, count]) => count > 0).map(([state, count]) => `${String(count)} ${state}`)
  return [
    `${batchId} ${status}: ${String(total)} rows, ${reported.join(', ')}`,
    ...problem === undefined ? [] : [`  ${problem.message}`],
    ...rows.map(({ row, id, status: state, dispatchId, problem: why }) =>
      `  row ${String(row)}${id === undefined ? '' : ` (${id})`}: ${why?.message ?? `${state}, ${dispatchId ?? ''}`}`
    )
  ].join('\n')
}

/** Whether each row was dispatched, and has succeeded. */
export function isWhole ({ status, counts }: Batch): boolean {
  return status === 'finished' && counts['succeeded'] === counts.total
}

/** Rows whose fate is open. */
function under ({ counts: { unchecked = 0, waiting = 0, running = 0 } }: Batch): number {
  return unchecked + waiting + running
}

async function uploadOf ({ file, common, mapping }: BatchFiles): Promise<Upload> {
  const json = async (path: string): Promise<Readonly<Record<string, unknown>>> =>
    JSON.parse(await readFile(path, 'utf8')) as Readonly<Record<string, unknown>>
  return {
    file: () => createReadStream(file),
    filename: basename(file),
    contentType: file.toLowerCase().endsWith('.csv') ? 'text/csv' : 'application/x-ndjson',
    ...common === undefined ? {} : { common: await json(common) },
    ...mapping === undefined ? {} : { mapping: await json(mapping) }
  }
}

async function rowsIn (answer: Response): Promise<Row[]> {
  return (await answer.text()).split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Row)
}
