import { readFileSync, writeFileSync } from 'node:fs'
import { Type } from 'typebox'
import { Value } from 'typebox/value'

/** Which share of its floor each kind of dispatch reached at one stage of the work, in percent. */
export type Stage = { stage: string, commit: string, waited: number, queued: number, waitedOfMany: number }

const Stages = Type.Array(Type.Object({
  stage: Type.String(),
  commit: Type.String(),
  waited: Type.Number(),
  queued: Type.Number(),
  waitedOfMany: Type.Number()
}))

const folder = new URL('../', import.meta.url)

/** The kept stages, the oldest first. Throws where the file has another form. */
export function keptStages (): Stage[] {
  return Value.Parse(Stages, JSON.parse(readFileSync(new URL('floor.json', folder), 'utf8')))
}

/** Keeps a stage beside the others, in place of one of the same name, and draws the picture again. */
export function keepStage (stage: Stage): void {
  const stages = [...keptStages().filter((kept) => kept.stage !== stage.stage), stage]
  writeFileSync(new URL('floor.json', folder), `[\n${stages.map((one) => `  ${inOneLine(one)}`).join(',\n')}\n]\n`)
  writeFileSync(new URL('floor.svg', folder), pictureOf(stages))
}

function inOneLine (stage: Stage): string {
  return JSON.stringify(stage, undefined, 1).replaceAll(/\n ?/g, ' ')
}

const kinds = [['waited', 'waited for, one company'], ['queued', 'queued, one company'], ['waitedOfMany',
  'waited for, 50 companies']] as const

/** In units of the drawing: the place of the bars, a percent, a bar, the distance of two bars and of two stages, and the edges. */
const [left, percent, bar, gap, between, top] = [240, 6.4, 14, 3, 18, 50]

/** Bars for each stage, as SVG that is light or dark as its reader's page is; its words tell the same. */
export function pictureOf (stages: readonly Stage[]): string {
  const height = kinds.length * (bar + gap) - gap
  const bottom = top + stages.length * (height + between)
  const width = left + 100 * percent + 30
  const rows = stages.map((stage, index) => rowOf(stage, top + index * (height + between), height))
  const grid = [0, 25, 50, 75, 100].map((share) => {
    const x = left + share * percent
    return `<path class="line" d="M${x} ${top - 8}V${bottom - between + 8}"/><text class="quiet" x="${x}" y="${
      bottom + 6
    }" text-anchor="middle">${share} %</text>`
  })
  const legend = kinds.map(([kind, words], index) => {
    const x = left + index * 215
    return `<rect class="${kind}" x="${x}" y="12" width="14" height="14" rx="2"/><text x="${x + 20}" y="24">${words}</text>`
  })
  const lines = stages.map(({ stage, ...shares }) => `${stage}: ${kinds.map(([kind, words]) => `${words} ${shares[kind]} %`).join(', ')}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 16}" role="img" aria-labelledby="title told">
<title id="title">Share of the floor that a dispatch reaches</title>
<desc id="told">${escaped(lines.join('; '))}</desc>
<style>
text { font: 13px system-ui, sans-serif; fill: #1c2733 } .quiet { fill: #5b6875 } .line { stroke: #d5dbe1 } .ground { fill: #fff }
.waited { fill: #1d4e89 } .queued { fill: #c77700 } .waitedOfMany { fill: #2f855a }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .quiet { fill: #9aa7b4 } .line { stroke: #3b444e } .ground { fill: #0d1117 }
.waited { fill: #6ea8fe } .queued { fill: #f0a63a } .waitedOfMany { fill: #5cc28a }
}
</style>
<rect class="ground" width="100%" height="100%"/>
${[...grid, ...legend, ...rows].join('\n')}
</svg>
`
}

function rowOf ({ stage, commit, ...shares }: Stage, y: number, height: number): string {
  const bars = kinds.map(([kind], index) => {
    const at = y + index * (bar + gap)
    const width = shares[kind] * percent
    return `<rect class="${kind}" x="${left}" y="${at}" width="${width.toFixed(1)}" height="${bar}" rx="2"/>` +
      `<text x="${(left + width + 6).toFixed(1)}" y="${at + bar - 2}">${shares[kind]} %</text>`
  })
  const middle = y + height / 2
  return `<text x="${left - 14}" y="${middle}" text-anchor="end">${escaped(stage)}</text>` +
    `<text class="quiet" x="${left - 14}" y="${middle + 17}" text-anchor="end">${escaped(commit)}</text>${bars.join('')}`
}

function escaped (text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
