"""How a request comes in to the FastAPI peer: a session, who calls, and whose business it is."""

from collections.abc import AsyncIterator
from typing import Annotated
from uuid import UUID

from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.ext.asyncio import AsyncSession

from bench.peers import setting
from bench.peers.setting import Caller
from bench.peers.tables import Business, find_business

_bearer = HTTPBearer()


async def _session(request: Request) -> AsyncIterator[AsyncSession]:
    async with request.app.state.make_session() as opened:
        yield opened


async def _caller(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials, Depends(_bearer)]
) -> Caller:
    found = setting.read(credentials.credentials, request.app.state.key)
    if found is None:
        raise HTTPException(401)
    return found


Session = Annotated[AsyncSession, Depends(_session)]


async def _business(
    business_id: UUID, caller: Annotated[Caller, Depends(_caller)], session: Session
) -> Business:
    found = await find_business(session, caller.partner_id, business_id)
    if found is None or caller.business_id != business_id:
        raise HTTPException(403)
    return found


Owned = Annotated[Business, Depends(_business)]
