// `openapi.sdk.json`, not `openapi.json`: of several kinds of a body orval would use the last one.
module.exports = {
  accounting: {
    input: { target: "./openapi.sdk.json" },
    output: { target: "client/accounting.ts", client: "fetch" },
  },
};
