import { type Json, type JsonObject, memoizeByIdentity } from '@dispatch/common'
import { pretty } from '../form/json.ts'
import { isList, isObject } from '../form/schema.ts'

/** A request to the API. `version`: the one that takes it, where the usual one does not. */
export type ApiRequest = { url: string, body: JsonObject, version?: string }

/** The longest body that stands in code, in characters. A longer one is read from the file {@link requestFile}. */
const longestBody = 4000

export const requestFile = 'request.json'

/** The body of a request as JSON, which is needed several times for its code. */
const written = memoizeByIdentity(({ body }: ApiRequest) => ({ json: pretty(body) }))

/** Whether the code of a request reads its body from a file. */
export function readsFile (request: ApiRequest): boolean {
  return written(request).json.length > longestBody
}

/** A command that sends a request, for a shell. The key is in the reader's environment. */
export function curlOf (request: ApiRequest): string {
  return [
    `curl ${quoted(request.url)}`,
    '-H "Authorization: Bearer $DISPATCH_API_KEY"',
    `-H ${quoted('Content-Type: application/json')}`,
    ...request.version === undefined ? [] : [`-H ${quoted(`X-API-Version: ${request.version}`)}`],
    readsFile(request) ? `-d @${requestFile}` : `-d ${quoted(written(request).json)}`
  ].join(' \\\n  ')
}

function quoted (text: string): string {
  return `'${text.replaceAll('\'', '\'\\\'\'')}'`
}

/** A module that sends a request, for Node and the like. The same idempotency key again sends nothing twice. */
export function typescriptOf (request: ApiRequest): string {
  const isLong = readsFile(request)
  return `${isLong ? 'import { readFile } from \'node:fs/promises\'\n\n' : ''}const answer = await fetch(${JSON.stringify(request.url)}, {
  method: 'POST',
  headers: {
    'Authorization': \`Bearer \${process.env['DISPATCH_API_KEY']}\`,
    'Content-Type': 'application/json',${request.version === undefined ? '' : `\n    'X-API-Version': '${request.version}',`}
    'Idempotency-Key': crypto.randomUUID()
  },
  body: ${isLong ? `await readFile('${requestFile}', 'utf8')` : `JSON.stringify(${indented(written(request).json)})`}
})
if (!answer.ok) throw new Error(await answer.text())
console.log(await answer.json())
`
}

/** A program that sends a request with Python's own library. */
export function pythonOf (request: ApiRequest): string {
  const isLong = readsFile(request)
  return `import json
import os
import urllib.error
import urllib.request
import uuid

request = urllib.request.Request(
    ${JSON.stringify(request.url)},
    data=${isLong ? `open("${requestFile}", "rb").read()` : `json.dumps(${literalOf(request.body, '    ')}).encode()`},
    headers={
        "Authorization": "Bearer " + os.environ["DISPATCH_API_KEY"],
        "Content-Type": "application/json",${request.version === undefined ? '' : `\n        "X-API-Version": "${request.version}",`}
        "Idempotency-Key": str(uuid.uuid4()),
    },
)
try:
    with urllib.request.urlopen(request) as answer:
        print(json.load(answer))
except urllib.error.HTTPError as refusal:
    raise SystemExit(refusal.read().decode())
`
}

/** A program that sends a request with PHP alone. */
export function phpOf (request: ApiRequest): string {
  const json = `<<<'JSON'\n${written(request).json}\nJSON`
  return `<?php
$stream = fopen(${phpText(request.url)}, 'r', false, stream_context_create(['http' => [
    'method' => 'POST',
    'header' => [
        'Authorization: Bearer ' . getenv('DISPATCH_API_KEY'),
        'Content-Type: application/json',${request.version === undefined ? '' : `\n        'X-API-Version: ${request.version}',`}
        'Idempotency-Key: ' . bin2hex(random_bytes(16)),
    ],
    'content' => ${readsFile(request) ? `file_get_contents('${requestFile}')` : json},
    'ignore_errors' => true,
]]));
$answer = stream_get_contents($stream);
if (!preg_match('{^HTTP/\\S+ 2}', stream_get_meta_data($stream)['wrapper_data'][0])) {
    fwrite(STDERR, $answer);
    exit(1);
}
echo $answer, "\\n";
`
}

function phpText (text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll('\'', '\\\'')}'`
}

/** A program of one file that sends a request with Java 15 or later: `java Send.java`. */
export function javaOf (request: ApiRequest): string {
  const isLong = readsFile(request)
  // Within JSON no three quotes follow each other.
  const json = `ofString("""\n${written(request).json.replaceAll('\\', '\\\\')}\n""")`
  return `import java.net.URI;
import java.net.http.*;${isLong ? '\nimport java.nio.file.Path;' : ''}
import java.util.UUID;

class Send {
  public static void main(String[] given) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(${JSON.stringify(request.url)}))
        .header("Authorization", "Bearer " + System.getenv("DISPATCH_API_KEY"))
        .header("Content-Type", "application/json")${
    request.version === undefined ? '' : `\n        .header("X-API-Version", "${request.version}")`
  }
        .header("Idempotency-Key", UUID.randomUUID().toString())
        .POST(HttpRequest.BodyPublishers.${isLong ? `ofFile(Path.of("${requestFile}"))` : json})
        .build();
    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() >= 300) throw new IllegalStateException(answer.body());
    System.out.println(answer.body());
  }
}
`
}

/** A program that sends a request with .NET alone. */
export function csharpOf (request: ApiRequest): string {
  const json = `System.Text.Encoding.UTF8.GetBytes(@"${written(request).json.replaceAll('"', '""')}")`
  return `using System;
using System.Net.Http;
using System.Net.Http.Headers;

static class Send
{
    static int Main()
    {
        var request = new HttpRequestMessage(HttpMethod.Post, ${JSON.stringify(request.url)});
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", Environment.GetEnvironmentVariable("DISPATCH_API_KEY"));
        request.Headers.Add("Idempotency-Key", Guid.NewGuid().ToString());${
    request.version === undefined ? '' : `\n        request.Headers.Add("X-API-Version", "${request.version}");`
  }
        request.Content = new ByteArrayContent(${readsFile(request) ? `System.IO.File.ReadAllBytes("${requestFile}")` : json});
        request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        var answer = new HttpClient().SendAsync(request).GetAwaiter().GetResult();
        var text = answer.Content.ReadAsStringAsync().GetAwaiter().GetResult();
        (answer.IsSuccessStatusCode ? Console.Out : Console.Error).WriteLine(text);
        return answer.IsSuccessStatusCode ? 0 : 1;
    }
}
`
}

/** Behind the first line of a text, each line two places further in. JSON has its line breaks between values alone. */
function indented (json: string): string {
  return json.replaceAll('\n', '\n  ')
}

const constants: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

/** A value as Python writes it: texts and numbers as JSON does. */
function literalOf (value: Json, margin: string): string {
  const within = `${margin}    `
  const among = ([open, close]: readonly [string, string], items: readonly string[]): string =>
    items.length === 0 ? `${open}${close}` : `${open}\n${items.map((item) => `${within}${item},\n`).join('')}${margin}${close}`
  if (isList(value)) return among(['[', ']'], value.map((item) => literalOf(item, within)))
  if (isObject(value)) {
    return among(['{', '}'], Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${literalOf(item, within)}`))
  }
  return typeof value === 'string' ? JSON.stringify(value) : constants[String(value)] ?? String(value)
}
