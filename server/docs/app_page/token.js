// Reads what a business token says of itself. Whether it holds is for the server to say.

// Tokens that may do all, and those that may only read; this page only reads.
const SCOPES = ["business_access", "business_access_read"];

// Gives {business_id, exp} of a token that opens one business, or nothing.
export function claimsOf(token) {
  try {
    const text = atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"));
    const { business_id, exp, scope } = JSON.parse(text);
    return SCOPES.includes(scope) && business_id && exp ? { business_id, exp } : undefined;
  } catch {
    return undefined;
  }
}
