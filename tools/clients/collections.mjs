// Converter of the contract to collections for Postman and Bruno:
// `node tools/clients/collections.mjs FOLDER`.
// FOLDER has the contract and a story (`recorded_story.py`): all operations in an order in which
// each succeeds. Each request of the story becomes a request of the collections, with a test of
// its status, and a script that stores the ids that later requests use.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { postmanToBruno } from '@usebruno/converters'
import { convertV2 } from 'openapi-to-postmanv2'

const GIVEN = {
  baseUrl: 'http://127.0.0.1:8000',
  basicAuthUsername: '',
  basicAuthPassword: ''
}
const HINT = `Set \`basicAuthUsername\` to your partner id and \`basicAuthPassword\` to an API key, then run the
collection from the top. Its first request stores a token, the second creates a business, and each
request stores the ids that later ones use. A request whose name ends in brackets prepares a record
for the one in the brackets.`

const folder = process.argv[2]
const contract = readFileSync(join(folder, 'accounting.yaml'), 'utf8')
const story = JSON.parse(readFileSync(join(folder, 'story.json'), 'utf8'))
const options = { folderStrategy: 'Tags', parametersResolution: 'Example' }
const converted = await promisify(convertV2)({ type: 'string', data: contract }, options)
if (!converted.result) throw new Error(converted.reason)

const collection = converted.output[0].data
const known = new Map([...itemsOf(collection)].map((item) => [item.name, item]))
const folders = new Map(collection.item.map((each) => [each.name, { ...each, item: [] }]))
const names = new Set()
let last
for (const step of story) {
  if (step.folder !== last && folders.get(step.folder).item.length > 0) {
    throw new Error(`The story comes back to ${step.folder}: the folders have another order.`)
  }
  last = step.folder
  folders.get(step.folder).item.push(itemOf(step))
}
collection.item = [...folders.values()]
collection.info.description.content = `${HINT}\n\n${collection.info.description.content}`
const stored = new Set(story.flatMap((step) => Object.keys(step.stored)))
const variables = [...Object.entries(GIVEN), ...[...stored].map((name) => [name, ''])]
collection.variable = variables.map(([key, value]) => ({ key, value }))
write('accounting.postman.json', collection)
write('accounting.bruno.json', await forBruno(collection))

/** Yield all requests of a collection, including those in folders. */
function* itemsOf(part, inner = 'item') {
  if (part.request) yield part
  for (const item of part[inner] ?? []) yield* itemsOf(item, inner)
}

/** Return the request of a step. */
function itemOf(step) {
  const item = structuredClone(known.get(step.operation))
  item.name = nameOf(step)
  const { request } = item
  if (step.prepares_for) {
    item.response = []
    delete request.description
  }
  request.url.variable = Object.entries(step.path).map(([key, value]) => ({ key, value }))
  request.url.query = queryOf(request.url.query, step.query)
  request.header = headersOf(request.header, step)
  if (step.for_business) request.auth.bearer = [{ key: 'token', value: '{{businessToken}}' }]
  setBody(request, step)
  item.event = [{ listen: 'test', script: { type: 'text/javascript', exec: scriptOf(step) } }]
  return item
}

/** Return a name that no other request has. */
function nameOf({ operation, prepares_for: prepared }) {
  const whole = prepared ? `${operation} (${prepared})` : operation
  let name = whole
  for (let number = 2; names.has(name); number += 1) name = `${whole} ${number}`
  names.add(name)
  return name
}

/** Return the query of a step, and the other parameters, which are switched off. */
function queryOf(offered, sent) {
  const known = offered.map((each) => ({
    ...each,
    value: sent[each.key] ?? each.value,
    disabled: !(each.key in sent)
  }))
  const keys = new Set(known.map((each) => each.key))
  const others = Object.entries(sent).filter(([key]) => !keys.has(key))
  return [...known, ...others.map(([key, value]) => ({ key, value }))]
}

/** Return the headers: a new key for each run; a form has a type with its own boundary. */
function headersOf(offered, step) {
  const isForm = step.form?.some((field) => field.file_name)
  return offered
    .filter((each) => !(isForm && each.key === 'Content-Type'))
    .map((each) => {
      if (each.key === 'Idempotency-Key') return { ...each, value: '{{$guid}}' }
      return { ...each, disabled: !['Accept', 'Content-Type'].includes(each.key) }
    })
}

function setBody(request, step) {
  if (step.json !== undefined) request.body.raw = JSON.stringify(step.json, null, 2)
  else if (request.body?.mode === 'urlencoded') request.body.urlencoded = step.form
  else if (request.body?.mode === 'formdata') request.body.formdata = step.form.map(formField)
}

/** Return a field of a form; a file is sent as text with a name, so that no file is needed. */
function formField({ key, value, file_name: fileName }) {
  return { key, value, type: 'text', ...(fileName && { fileName }) }
}

/** Return the script after a request: a test of its status, and its ids as variables. */
function scriptOf(step) {
  return [
    `pm.test('The status is ${step.status}', function () {`,
    `  pm.response.to.have.status(${step.status});`,
    '});',
    ...Object.entries(step.stored).map(
      ([name, place]) => `pm.collectionVariables.set('${name}', pm.response.json().${place});`
    )
  ]
}

/**
 * Convert the collection for Bruno. It reads the file of a form from a path, and sends a query
 * parameter that is in the address even where it is switched off.
 */
async function forBruno(collection) {
  const { collection: changed } = await postmanToBruno(collection)
  for (const { request } of itemsOf(changed, 'items')) {
    const sent = request.params.filter((each) => each.type === 'query' && each.enabled)
    const query = sent.map((each) => `${each.name}=${each.value}`).join('&')
    const [address] = request.url.replace(/^http:\/\/(?={{baseUrl}})/, '').split('?')
    request.url = query === '' ? address : `${address}?${query}`
    for (const field of request.body.multipartForm ?? []) {
      if (field.name === 'file') Object.assign(field, { type: 'file', value: ['paper.pdf'] })
    }
  }
  return changed
}

function write(name, content) {
  writeFileSync(join(folder, name), JSON.stringify(content))
}
