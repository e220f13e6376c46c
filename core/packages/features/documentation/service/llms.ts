import type { Page } from './library.ts'

/** What a program is told of the documentation, as llmstxt.org proposes: each page with its address as Markdown. */
export function llmsText (pages: readonly Page[], publicUrl: string): string {
  const sections = Object.entries(Object.groupBy(pages.filter(({ language }) => language === 'en'), ({ section }) => section))
  const listed = sections.map(([name, list = []]) =>
    `## ${name}\n\n${list.map(({ title, address }) => `- [${title}](${publicUrl}/docs/${address}.md)`).join('\n')}\n`
  )
  return `# Document Dispatch

> One HTTP API takes a template and its data, makes the document and dispatches it through a provider. Nothing is sent twice, nothing is lost.

- [OpenAPI document of version 1.1.0](${publicUrl}/openapi/1.1.0.json): every operation with its schemas
- [API reference](${publicUrl}/docs/reference.md): a page for each operation, and for each type
- [Tools for assistants](${publicUrl}/mcp): a server of the Model Context Protocol, for a key with the scope \`propose\`

${listed.join('\n')}`
}
