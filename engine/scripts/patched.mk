# SPDX-License-Identifier: GPL-2.0-only
#
# PATCHES: a farm of links to the tree with copies of the files the patches touch.
# Objects that read none of the touched files are taken from BASE; without patches, those that come
# out the same whatever is built here.

ifeq ($(strip $(PATCHES)),)
PATCHED_K	:= $K
PATCHED_INC	:=
PATCHED_STAMP	:=
# No tree is read by hw, registry, run, calls and workloads; the kernel's objects are never sanitized.
ifneq ($(BASE),)
TAKEN		:= $(if $(SANITIZE),gen k,hw registry run calls workloads)
# Where the objects have been removed since, all are compiled here.
HAS_THEM	:= $(filter $(words $(TAKEN)),$(words $(wildcard $(TAKEN:%=$(BASE)/%))))
TAKEN_RESULT	:= $(if $(wildcard $O/workloads)$(if $(HAS_THEM),,none),0,$(shell $E/scripts/take-objects \
			'$(abspath $(BASE))' '$O' '$(TAKEN)' >&2; echo $$?))
$(if $(filter 0,$(TAKEN_RESULT)),,$(error BASE=$(BASE): its objects could not be taken))
endif
else
PATCHED_K	:= $O/src
PATCHED_INC	:= -I$O/src/include
PATCHED_STAMP	:= $O/src/.stamp
# Before make looks at any object: an object of BASE that still holds is not built.
PATCHED_RESULT	:= $(shell $E/scripts/apply-patches '$K' '$O/src' '$O' '$(if $(BASE),$(abspath $(BASE)))' $(abspath $(PATCHES)) >&2; echo $$?)
$(if $(filter 0,$(PATCHED_RESULT)),,$(error the patch set does not apply))
endif
