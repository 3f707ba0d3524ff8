# SPDX-License-Identifier: GPL-2.0-only
#
# PATCHES: a farm of links to the tree with copies of the files the patches touch.
# Objects that read none of the touched files are taken from BASE.

ifeq ($(strip $(PATCHES)),)
PATCHED_K	:= $K
PATCHED_INC	:=
PATCHED_STAMP	:=
else
PATCHED_K	:= $O/src
PATCHED_INC	:= -I$O/src/include
PATCHED_STAMP	:= $O/src/.stamp
# Before make looks at any object: an object of BASE that still holds is not built.
PATCHED_RESULT	:= $(shell $E/scripts/apply-patches '$K' '$O/src' '$O' '$(if $(BASE),$(abspath $(BASE)))' $(abspath $(PATCHES)) >&2; echo $$?)
$(if $(filter 0,$(PATCHED_RESULT)),,$(error the patch set does not apply))
endif
